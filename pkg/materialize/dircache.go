package materialize

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// cachedDirs is how many directories stay open. A layer reads its files in the
// order of their names, some of them ahead of others: the next one is almost
// always beside one of these.
const cachedDirs = 8

// dirCache keeps the directories open that were read from last, so that a file
// costs one open and not one per component of its path.
type dirCache struct {
	mu   sync.Mutex
	dirs []openedDir // the one that was used last is at the end
}

type openedDir struct {
	at  location
	dir *os.Root
}

// open opens a file of a directory, which no link leads to. The directory's own
// failure is a *LocalSourceError, the file's is as the system gave it.
func (c *dirCache) open(src string, at location, name string) (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.dirs, func(d openedDir) bool { return d.at == at })
	if i < 0 {
		dir, err := openDir(src, at)
		if err != nil {
			return nil, err
		}
		if len(c.dirs) == cachedDirs {
			_ = c.dirs[0].dir.Close() // only read from
			c.dirs = slices.Delete(c.dirs, 0, 1)
		}
		c.dirs = append(c.dirs, openedDir{at, dir})
	} else if used := c.dirs[i]; i != len(c.dirs)-1 {
		c.dirs = append(slices.Delete(c.dirs, i, i+1), used)
	}
	return c.dirs[len(c.dirs)-1].dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
}

func (c *dirCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var problems []error
	for _, d := range c.dirs {
		problems = append(problems, d.dir.Close())
	}
	c.dirs = nil
	return errors.Join(problems...)
}
