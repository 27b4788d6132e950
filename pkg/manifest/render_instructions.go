package manifest

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// Instructions tell a model, in Markdown, what the workspace of a valid
// manifest is and how to treat it: its files, which commands may run against
// remote mounts, and what else it may use. Paths of the host and values of
// the environment are not in there.
func (m *Manifest) Instructions() string {
	var b strings.Builder
	m.introduce(&b)
	b.WriteString("\n## Files\n\nDirectories that are copied, cloned or mounted hold more than is listed.\n\n```text\n" + m.tree(TreeOptions{}, false) + "```\n")
	mounts, others := m.attached()
	m.remotePolicy(&b, mounts)
	if len(others) > 0 {
		b.WriteString("\n## Volumes and paths outside of the workspace\n\n")
		writeAttached(&b, others)
	}
	return b.String()
}

func (m *Manifest) introduce(b *strings.Builder) {
	title := "Workspace"
	if m.Name != "" {
		title += " " + m.Name
	}
	fmt.Fprintf(b, "# %s\n\nYour workspace is %s, a directory in a container.", title, printable(cmp.Or(m.Root, DefaultRoot)))
	if m.RunAs != "" {
		fmt.Fprintf(b, " Commands run as %s.", printable(m.RunAs))
	}
	if m.Network == NetworkNone {
		b.WriteString(" There is no network.")
	}
	b.WriteByte('\n')
}

// attachedPath is a directory whose content is not the manifest's.
type attachedPath struct {
	path, description string
	readOnly          bool
}

// attached lists the remote mounts, and then the volumes and granted paths.
func (m *Manifest) attached() (mounts, others []attachedPath) {
	for _, e := range m.Flatten() {
		mt, ok := e.Entry.(mounter)
		if !ok {
			continue
		}
		a := attachedPath{path.Join(cmp.Or(m.Root, DefaultRoot), target(e)), e.Entry.Attrs().Description, mt.mount().ReadOnly}
		if isRemote(mt) {
			mounts = append(mounts, a)
		} else {
			others = append(others, a)
		}
	}
	for _, g := range m.ExtraPathGrants {
		others = append(others, attachedPath{g.Path, g.Description, g.ReadOnly})
	}
	return mounts, others
}

// isRemote reports whether each access to a mount goes over a network: what
// Docker's own volumes and memory hold does not.
func isRemote(e mounter) bool {
	v, ok := e.(*VolumeMount)
	return !ok || v.Tmpfs == nil && v.Driver != "" && v.Driver != DriverLocal
}

func writeAttached(b *strings.Builder, list []attachedPath) {
	for _, a := range list {
		fmt.Fprintf(b, "- %s (%s)", printable(a.path), access(a.readOnly))
		if words := strings.Fields(a.description); len(words) > 0 {
			b.WriteString(": " + printable(strings.Join(words, " ")))
		}
		b.WriteByte('\n')
	}
}

// remotePolicy writes how to treat remote mounts, if there are any, and how to
// edit on those that can be written.
func (m *Manifest) remotePolicy(b *strings.Builder, mounts []attachedPath) {
	if len(mounts) == 0 {
		return
	}
	b.WriteString("\n## Remote mounts\n\nThese directories are remote storage, where every access takes a while:\n\n")
	writeAttached(b, mounts)
	commands := m.RemoteMountCommandAllowlist
	if commands == nil {
		commands = DefaultMountCommands()
	}
	if len(commands) == 0 {
		b.WriteString("\nRun no command on them.\n")
	} else {
		b.WriteString("\nRun only these commands on them: " + printable(strings.Join(commands, ", ")) + ".\n")
	}
	var readOnly, writable bool
	for _, a := range mounts {
		readOnly = readOnly || a.readOnly
		writable = writable || !a.readOnly
	}
	if readOnly {
		b.WriteString("Files on a read-only mount cannot be changed.\n")
	}
	if writable {
		b.WriteString("To edit a file on a read-write mount, copy it out, edit the copy, and write it back whole.\n")
	}
}
