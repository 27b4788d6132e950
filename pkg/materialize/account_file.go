package materialize

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/docker-workspace/docker-workspace/pkg/oci"
)

// Entries are the account files, and the home directories of users that the
// base does not have; none when the base says it all already.
func (a *Accounts) Entries() []oci.Entry {
	if !a.changed {
		return nil
	}
	entries := []oci.Entry{
		accountEntry("etc/passwd", a.basePasswd.Header, a.passwd()),
		accountEntry("etc/group", a.baseGroup.Header, a.group()),
	}
	for _, u := range a.added {
		entries = append(entries, oci.Entry{Name: strings.Trim(u.home, "/"), Type: tar.TypeDir, Mode: defaultDirMode, UID: u.uid, GID: u.gid})
	}
	return entries
}

func accountEntry(name string, header *tar.Header, content []byte) oci.Entry {
	e := oci.Entry{
		Name: name, Type: tar.TypeReg, Mode: defaultFileMode, Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
	if header != nil {
		e.Mode, e.UID, e.GID = header.Mode&0o777, header.Uid, header.Gid
	}
	return e
}

// passwd is the content of /etc/passwd, passwd(5).
func (a *Accounts) passwd() []byte {
	b := bytes.NewBuffer(endLine(a.basePasswd.Content))
	for _, u := range a.added {
		fmt.Fprintf(b, "%s:x:%d:%d::%s:%s\n", u.name, u.uid, u.gid, u.home, u.shell)
	}
	return b.Bytes()
}

// group is the content of /etc/group, group(5).
func (a *Accounts) group() []byte {
	touched := map[string]string{}
	var names []string
	for _, g := range a.groups {
		if g.touched {
			touched[g.name] = fmt.Sprintf("%s:x:%d:%s\n", g.name, g.gid, strings.Join(g.members, ","))
			names = append(names, g.name)
		}
	}
	var b bytes.Buffer
	for line := range bytes.Lines(endLine(a.baseGroup.Content)) {
		name, _, _ := strings.Cut(string(line), ":")
		if ours, ok := touched[name]; ok {
			line = []byte(ours)
			delete(touched, name)
		}
		b.Write(line)
	}
	for _, name := range names {
		b.WriteString(touched[name])
	}
	return b.Bytes()
}

func endLine(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	return b
}

func parsePasswd(b []byte) []user {
	var users []user
	for f := range records(b, 7) {
		uid, err1 := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if err1 == nil && err2 == nil {
			users = append(users, user{name: f[0], uid: uid, gid: gid, home: f[5], shell: f[6]})
		}
	}
	return users
}

func parseGroup(b []byte) []group {
	var groups []group
	for f := range records(b, 4) {
		gid, err := strconv.Atoi(f[2])
		if err != nil {
			continue
		}
		g := group{name: f[0], gid: gid}
		if f[3] != "" {
			g.members = strings.Split(f[3], ",")
		}
		groups = append(groups, g)
	}
	return groups
}

// records yields the well-formed lines of an account file.
func records(b []byte, fields int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range bytes.Lines(b) {
			f := strings.Split(strings.TrimSuffix(string(line), "\n"), ":")
			if len(f) == fields && f[0] != "" && !yield(f) {
				return
			}
		}
	}
}
