package plugin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/engine/enginetest"
)

type engineKey struct{}

// scriptEngine is the engine of one script.
type scriptEngine struct {
	fake *enginetest.Engine
	// config is the directory of the script's Docker configuration.
	config string
	// heal ends what the script makes fail.
	heal []func()
	// seen counts the requests that the script has no interest in any more.
	seen int
}

// engineCommand looks at the script's engine from behind, or changes it:
//
//	engine containers          prints the names of all containers
//	engine images              prints the tags of all images
//	engine files NAME DIR      prints what a container has below a directory
//	engine cat NAME FILE       prints a file of a container
//	engine write NAME FILE TEXT
//	                           writes a file of a container
//	engine fail METHOD PATH STATUS MESSAGE
//	                           makes requests fail (see enginetest.Engine.Fail)
//	engine heal                ends that
//	engine forget              forgets the requests so far
//	engine changes             prints the requests that change something
//	engine body METHOD PATH    prints what the JSON body of the last such request
//	                           sets, a line for each value: HostConfig.Init = true
//	engine context NAME        writes a context of that name for the engine
//	engine id NAME             sets ID to the first digits of a container's ID
//	engine run NAME            runs a container that is no workspace
//	engine stop NAME           stops a container
//	engine untouched           fails unless there is nothing but the images
//	                           that the engine began with
func engineCommand(ts *testscript.TestScript, neg bool, args []string) {
	e, _ := ts.Value(engineKey{}).(*scriptEngine)
	if neg || len(args) == 0 {
		ts.Fatalf("usage: engine SUBCOMMAND [ARG...]")
	}
	for _, known := range []struct {
		name string
		args int
		run  func(ts *testscript.TestScript, args []string) error
	}{
		{"containers", 0, e.containers},
		{"images", 0, e.images},
		{"files", 2, e.files},
		{"cat", 2, e.cat},
		{"write", 3, e.write},
		{"fail", 4, e.fail},
		{"heal", 0, e.healAll},
		{"forget", 0, e.forget},
		{"changes", 0, e.changes},
		{"body", 2, e.body},
		{"context", 1, e.context},
		{"id", 1, e.id},
		{"run", 1, e.run},
		{"stop", 1, e.stop},
		{"untouched", 0, e.untouched},
	} {
		if known.name == args[0] && known.args == len(args)-1 {
			ts.Check(known.run(ts, args[1:]))
			return
		}
	}
	ts.Fatalf("engine: no such subcommand with %d arguments: %s", len(args)-1, args[0])
}

func lines(w io.Writer, list []string) error {
	for _, line := range list {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (e *scriptEngine) containers(ts *testscript.TestScript, _ []string) error {
	return lines(ts.Stdout(), e.fake.Containers())
}

func (e *scriptEngine) images(ts *testscript.TestScript, _ []string) error {
	return lines(ts.Stdout(), e.fake.Images())
}

func (e *scriptEngine) id(ts *testscript.TestScript, args []string) error {
	c, err := e.container(args[0])
	if err != nil {
		return err
	}
	ts.Setenv("ID", c.ID[:8])
	return nil
}

func (e *scriptEngine) container(name string) (*enginetest.Container, error) {
	c := e.fake.Container(name)
	if c == nil {
		return nil, fmt.Errorf("no container %q, there are %q", name, e.fake.Containers())
	}
	return c, nil
}

func (e *scriptEngine) files(ts *testscript.TestScript, args []string) error {
	c, err := e.container(args[0])
	if err != nil {
		return err
	}
	var list []string
	for _, f := range c.Files() {
		if name := "/" + f.Name; name == args[1] || strings.HasPrefix(name, strings.TrimSuffix(args[1], "/")+"/") {
			list = append(list, f.String())
		}
	}
	return lines(ts.Stdout(), list)
}

func (e *scriptEngine) cat(ts *testscript.TestScript, args []string) error {
	c, err := e.container(args[0])
	if err != nil {
		return err
	}
	f, ok := c.File(args[1])
	if !ok {
		return fmt.Errorf("no file %q in container %q", args[1], args[0])
	}
	_, err = io.WriteString(ts.Stdout(), f.Content)
	return err
}

func (e *scriptEngine) write(_ *testscript.TestScript, args []string) error {
	c, err := e.container(args[0])
	if err != nil {
		return err
	}
	return c.Write(enginetest.File{Name: strings.TrimPrefix(args[1], "/"), Content: args[2]})
}

func (e *scriptEngine) fail(_ *testscript.TestScript, args []string) error {
	status, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	e.heal = append(e.heal, e.fake.Fail(args[0], args[1], status, args[3]))
	return nil
}

func (e *scriptEngine) healAll(*testscript.TestScript, []string) error {
	for _, undo := range e.heal {
		undo()
	}
	e.heal = nil
	return nil
}

func (e *scriptEngine) forget(*testscript.TestScript, []string) error {
	e.seen = len(e.fake.Requests())
	return nil
}

func (e *scriptEngine) changes(ts *testscript.TestScript, _ []string) error {
	var list []string
	for _, r := range e.fake.Requests()[e.seen:] {
		if r.Method != "GET" && r.Method != "HEAD" {
			list = append(list, r.Method+" "+r.Path)
		}
	}
	return lines(ts.Stdout(), list)
}

func (e *scriptEngine) body(ts *testscript.TestScript, args []string) error {
	for _, r := range slices.Backward(e.fake.Requests()[e.seen:]) {
		if ok, err := path.Match(args[1], r.Path); err != nil || !ok || r.Method != args[0] {
			continue
		}
		var body any
		numbers := json.NewDecoder(bytes.NewReader(r.Body))
		numbers.UseNumber()
		if err := numbers.Decode(&body); err != nil {
			return fmt.Errorf("body of %s %s: %w", r.Method, r.Path, err)
		}
		return lines(ts.Stdout(), flatten("", body))
	}
	return fmt.Errorf("no request %s %s", args[0], args[1])
}

// flatten gives every value of a JSON document a line of its own, and none to
// what is empty. Values that nobody can read are left out.
func flatten(name string, value any) []string {
	var list []string
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			list = append(list, flatten(strings.TrimPrefix(name+"."+key, "."), value[key])...)
		}
	case []any:
		for i, element := range value {
			list = append(list, flatten(fmt.Sprintf("%s[%d]", name, i), element)...)
		}
	case nil:
	default:
		text := fmt.Sprint(value)
		if text == "" || text == "0" || text == "false" {
			break
		}
		if len(text) > 100 {
			text = "..."
		}
		list = append(list, name+" = "+text)
	}
	return list
}

// context writes the file that docker context create would write.
func (e *scriptEngine) context(_ *testscript.TestScript, args []string) error {
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(args[0])))
	dir := filepath.Join(e.config, "contexts", "meta", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	meta := fmt.Sprintf(`{"Name": %q, "Metadata": {}, "Endpoints": {"docker": {"Host": %q}}}`, args[0], e.fake.Host())
	return os.WriteFile(filepath.Join(dir, "meta.json"), []byte(meta), 0o600)
}

func (e *scriptEngine) run(_ *testscript.TestScript, args []string) error {
	return e.asOthers(func(ctx context.Context, others *engine.Client) error {
		c, err := others.CreateContainer(ctx, engine.ContainerSpec{Name: args[0], Image: "base:1"})
		if err != nil {
			return err
		}
		return others.StartContainer(ctx, c.ID)
	})
}

func (e *scriptEngine) stop(_ *testscript.TestScript, args []string) error {
	return e.asOthers(func(ctx context.Context, others *engine.Client) error {
		return others.StopContainer(ctx, args[0], 0)
	})
}

// asOthers does what somebody else does with the engine.
func (e *scriptEngine) asOthers(do func(context.Context, *engine.Client) error) error {
	client, err := engine.New(engine.Options{Host: e.fake.Host()})
	if err != nil {
		return err
	}
	defer client.Close()
	return do(context.Background(), client)
}

func (e *scriptEngine) untouched(*testscript.TestScript, []string) error {
	return untouched(e.fake)
}

// untouched reports what there is besides the images that newEngine has.
func untouched(e *enginetest.Engine) error {
	if left := e.Containers(); len(left) > 0 {
		return fmt.Errorf("containers are left: %q", left)
	}
	if images := e.Images(); !slices.Equal(images, []string{"base:1", "nogit:1", "noshell:1"}) {
		return fmt.Errorf("images have changed: %q", images)
	}
	return nil
}
