package materialize

import (
	"archive/tar"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docker-workspace/docker-workspace/pkg/manifest"
)

// ErrAccount means that users or groups cannot be what the manifest says.
var ErrAccount = errors.New("account conflict")

// firstID is the first id that is given to an account which declares none.
const firstID = 1000

// Accounts are the users and groups of the sandbox: those of the base image's
// own account files and those that the manifest adds. Ids are decided here and
// written as content, so that no image needs useradd.
type Accounts struct {
	users  []user
	groups []group
	added  []user // users that the base does not have, in declaration order
	// changed says that the base's files do not say it all yet.
	changed bool

	// The base's own files: what is not ours stays as it is, to the letter.
	basePasswd, baseGroup AccountFile
}

// AccountFile is /etc/passwd or /etc/group of the base image; the zero value
// is a base without one.
type AccountFile struct {
	Header  *tar.Header
	Content []byte
}

type user struct {
	name        string
	uid, gid    int
	home, shell string
}

type group struct {
	name    string
	gid     int
	members []string
	touched bool // its line differs from the base's
}

// NewAccounts merges the manifest's users and groups into the base's account
// files. Equal accounts are kept, others that share a name or an id are
// conflicts.
func NewAccounts(passwd, groupFile AccountFile, m *manifest.Manifest) (*Accounts, error) {
	a := &Accounts{users: parsePasswd(passwd.Content), groups: parseGroup(groupFile.Content), basePasswd: passwd, baseGroup: groupFile}
	for _, g := range m.Groups {
		if err := a.addGroup(g); err != nil {
			return nil, err
		}
	}
	for _, u := range m.Users {
		if err := a.addUser(u); err != nil {
			return nil, err
		}
	}
	for _, g := range m.Groups {
		for _, member := range g.Users {
			if err := a.join(member, g.Name); err != nil {
				return nil, err
			}
		}
	}
	for _, u := range m.Users {
		for _, g := range u.Groups {
			if err := a.join(u.Name, g); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// Owner resolves the declared owner and group of an entry, each a name, a
// decimal id or empty, on top of what it would have otherwise.
func (a *Accounts) Owner(otherwise Owner, owner, groupName string) (Owner, error) {
	out := otherwise
	if owner != "" {
		u, err := a.user(owner)
		if err != nil {
			return out, err
		}
		out = Owner{u.uid, u.gid}
	}
	if groupName != "" {
		gid, err := a.gid(groupName)
		if err != nil {
			return out, err
		}
		out.GID = gid
	}
	return out, nil
}

// RunAs resolves "name", "uid" or "uid:gid".
func (a *Accounts) RunAs(s string) (Owner, error) {
	name, groupName, _ := strings.Cut(s, ":")
	owner, err := a.Owner(Owner{}, name, groupName)
	if err != nil {
		return owner, fmt.Errorf("resolve run_as %q: %w", s, err)
	}
	return owner, nil
}

func (a *Accounts) user(name string) (user, error) {
	if i := slices.IndexFunc(a.users, func(u user) bool { return u.name == name }); i >= 0 {
		return a.users[i], nil
	}
	if uid, err := strconv.Atoi(name); err == nil && uid >= 0 {
		if i := slices.IndexFunc(a.users, func(u user) bool { return u.uid == uid }); i >= 0 {
			return a.users[i], nil
		}
		return user{uid: uid}, nil
	}
	return user{}, fmt.Errorf("user %q is neither declared in users nor known to the base image", name)
}

func (a *Accounts) gid(name string) (int, error) {
	if i := slices.IndexFunc(a.groups, func(g group) bool { return g.name == name }); i >= 0 {
		return a.groups[i].gid, nil
	}
	if gid, err := strconv.Atoi(name); err == nil && gid >= 0 {
		return gid, nil
	}
	return 0, fmt.Errorf("group %q is neither declared in groups nor known to the base image", name)
}

func (a *Accounts) addGroup(g manifest.Group) error {
	if i := slices.IndexFunc(a.groups, func(have group) bool { return have.name == g.Name }); i >= 0 {
		if g.GID != nil && *g.GID != a.groups[i].gid {
			return fmt.Errorf("group %q has gid %d in the base image, not %d: leave gid out or rename the group: %w", g.Name, a.groups[i].gid, *g.GID, ErrAccount)
		}
		return nil
	}
	gid := a.freeGID(firstID)
	if g.GID != nil {
		gid = *g.GID
		if other, taken := a.groupOf(gid); taken {
			return fmt.Errorf("group %q: gid %d already belongs to group %q: %w", g.Name, gid, other, ErrAccount)
		}
	}
	a.groups = append(a.groups, group{name: g.Name, gid: gid, touched: true})
	a.changed = true
	return nil
}

func (a *Accounts) addUser(u manifest.User) error {
	if i := slices.IndexFunc(a.users, func(have user) bool { return have.name == u.Name }); i >= 0 {
		return sameUser(a.users[i], u)
	}
	uid := a.freeUID()
	if u.UID != nil {
		uid = *u.UID
		if other, taken := a.userOf(uid); taken {
			return fmt.Errorf("user %q: uid %d already belongs to user %q: %w", u.Name, uid, other, ErrAccount)
		}
	}
	added := user{name: u.Name, uid: uid, gid: a.primaryGroup(u.Name, uid), home: u.Home, shell: u.Shell}
	if added.home == "" {
		added.home = "/home/" + u.Name
	}
	if added.shell == "" {
		added.shell = "/bin/sh"
	}
	a.users = append(a.users, added)
	a.added = append(a.added, added)
	a.changed = true
	return nil
}

func sameUser(have user, want manifest.User) error {
	conflict := func(field, has, wants string) error {
		return fmt.Errorf("user %q has %s %s in the base image, not %s: leave it out or rename the user: %w", want.Name, field, has, wants, ErrAccount)
	}
	switch {
	case want.UID != nil && *want.UID != have.uid:
		return conflict("uid", strconv.Itoa(have.uid), strconv.Itoa(*want.UID))
	case want.Home != "" && want.Home != have.home:
		return conflict("home", have.home, want.Home)
	case want.Shell != "" && want.Shell != have.shell:
		return conflict("shell", have.shell, want.Shell)
	}
	return nil
}

// primaryGroup finds or makes the group that is named as the user, with the
// user's id where that is free.
func (a *Accounts) primaryGroup(name string, uid int) int {
	if i := slices.IndexFunc(a.groups, func(g group) bool { return g.name == name }); i >= 0 {
		return a.groups[i].gid
	}
	gid := uid
	if _, taken := a.groupOf(gid); taken {
		gid = a.freeGID(firstID)
	}
	a.groups = append(a.groups, group{name: name, gid: gid, touched: true})
	return gid
}

func (a *Accounts) join(member, groupName string) error {
	if _, err := a.user(member); err != nil {
		return fmt.Errorf("group %q: %w", groupName, err)
	}
	i := slices.IndexFunc(a.groups, func(g group) bool { return g.name == groupName })
	if i < 0 {
		return fmt.Errorf("user %q: group %q is neither declared in groups nor known to the base image", member, groupName)
	}
	if !slices.Contains(a.groups[i].members, member) {
		a.groups[i].members = append(a.groups[i].members, member)
		a.groups[i].touched = true
		a.changed = true
	}
	return nil
}

func (a *Accounts) userOf(uid int) (string, bool) {
	i := slices.IndexFunc(a.users, func(u user) bool { return u.uid == uid })
	if i < 0 {
		return "", false
	}
	return a.users[i].name, true
}

func (a *Accounts) groupOf(gid int) (string, bool) {
	i := slices.IndexFunc(a.groups, func(g group) bool { return g.gid == gid })
	if i < 0 {
		return "", false
	}
	return a.groups[i].name, true
}

// freeUID prefers an id that is free as a group too, so that both are equal.
func (a *Accounts) freeUID() int {
	for id := firstID; ; id++ {
		_, user := a.userOf(id)
		_, group := a.groupOf(id)
		if !user && !group {
			return id
		}
	}
}

func (a *Accounts) freeGID(from int) int {
	for id := from; ; id++ {
		if _, taken := a.groupOf(id); !taken {
			return id
		}
	}
}
