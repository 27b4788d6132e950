package manifest

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

func (e *Entries) decodeNode(d *decoder, n *node, at *docPath) {
	if n.kind != mapNode {
		d.wrongType(n, at, mapNode.String())
		return
	}
	for _, p := range d.pairs(n, at.key) {
		at := at.key(p.key)
		entry := decodeUnion(d, p.value, at, entryTypes, "is_dir")
		if entry == nil {
			continue
		}
		d.isDir(p.value, at, entry)
		*e = append(*e, KeyedEntry{Path: cleanOrSame(p.key), Entry: entry, Pos: p.pos})
	}
}

// isDir checks the SDK's "is_dir", which only repeats what the type says.
func (d *decoder) isDir(n *node, at *docPath, e Entry) {
	v := n.get("is_dir")
	if v == nil || v.kind == nullNode {
		return
	}
	at = at.field("is_dir")
	if v.kind != boolNode {
		d.wrongType(v, at, boolNode.String())
		return
	}
	if isFile := e.Type() == TypeFile || e.Type() == TypeLocalFile; isTrue(v) == isFile {
		d.report(v.pos, at, CodeConflict, fmt.Sprintf("contradicts type %q", e.Type()), "leave the key out")
	}
}

func (e Entries) encodeNode() *node {
	m := &node{kind: mapNode}
	for _, k := range e {
		m.pairs = append(m.pairs, pair{key: cleanOrSame(k.Path), value: encodeUnion(k.Entry)})
	}
	return m
}

func (a *Attributes) aliases() []alias {
	return []alias{{name: "permissions", replaces: []string{"mode"}, decode: func(d *decoder, n *node, at *docPath) {
		mode := d.permissions(n, at)
		a.Mode = &mode
	}}}
}

func (f *File) aliases() []alias {
	return append(f.Attributes.aliases(), alias{
		name: "content_base64", replaces: []string{"content"},
		decode: func(d *decoder, n *node, at *docPath) {
			var err error
			if f.Content, err = base64.StdEncoding.DecodeString(d.text(n, at, "")); err != nil {
				d.report(n.pos, at, CodeInvalidValue, "is not standard base64", "")
			}
		},
	})
}

// finish keeps the content from being interpolated again, and writes it as
// base64 if it is not text.
func (f *File) finish(n *node) {
	for i, p := range n.pairs {
		if p.key != "content" {
			continue
		}
		p.value.verbatim = !f.Interpolate
		if !utf8.Valid(f.Content) {
			n.pairs[i] = pair{key: "content_base64", value: newText(base64.StdEncoding.EncodeToString(f.Content))}
		}
	}
}

func (l *LocalDir) aliases() []alias {
	return append(l.Attributes.aliases(), alias{
		name: "follow_symlinks", replaces: []string{"symlinks"},
		decode: func(d *decoder, n *node, at *docPath) {
			var follow bool
			d.value(n, at, reflect.ValueOf(&follow).Elem())
			if follow {
				l.Symlinks = SymlinksFollow
			}
		},
	})
}

func (f *IgnoreFile) decodeNode(d *decoder, n *node, at *docPath) {
	if n.kind == stringNode {
		f.Path = n.text
		return
	}
	d.object(n, at, reflect.ValueOf(f).Elem())
}

// mode reads three or four octal digits.
func (d *decoder) mode(n *node, at *docPath) fs.FileMode {
	if n.kind == intNode {
		d.report(n.pos, at, CodeWrongType, "is a number, whose digits would not be taken as octal", "quote it: "+strconv.Quote(n.text))
		return 0
	}
	s := d.text(n, at, "")
	if n.kind != stringNode {
		return 0
	}
	if mode, ok := parseOctal(s); ok {
		return mode
	}
	d.report(n.pos, at, CodeInvalidValue, fmt.Sprintf("%q is not a mode", s), `write three or four octal digits from "0000" to "0777"`)
	return 0
}

// permissions reads {owner, group, other}, rwxr-xr-x, the first column of
// "ls -l", or octal digits.
func (d *decoder) permissions(n *node, at *docPath) fs.FileMode {
	if n.kind == mapNode {
		return d.permissionBits(n, at)
	}
	if n.kind == intNode {
		return d.mode(n, at)
	}
	s := d.text(n, at, "")
	if n.kind != stringNode {
		return 0
	}
	mode, err := parsePermissions(s)
	if err != nil {
		d.report(n.pos, at, CodeInvalidValue, err.Error(), `write "rwxr-xr-x" or "0755"`)
	}
	return mode
}

func (d *decoder) permissionBits(n *node, at *docPath) (mode fs.FileMode) {
	var p struct {
		Owner *int `json:"owner"`
		Group *int `json:"group"`
		Other *int `json:"other"`
		// Directory only repeats what the type of the entry says.
		Directory bool `json:"directory"`
	}
	d.object(n, at, reflect.ValueOf(&p).Elem())
	for _, class := range []struct {
		name string
		bits *int
	}{{"owner", p.Owner}, {"group", p.Group}, {"other", p.Other}} {
		mode <<= 3
		switch {
		case class.bits == nil:
			if v := n.get(class.name); v == nil || v.kind == nullNode {
				d.report(n.pos, at.field(class.name), CodeMissing, strconv.Quote(class.name)+" is missing", "")
			}
		case *class.bits < 0 || *class.bits > 7:
			d.report(n.get(class.name).pos, at.field(class.name), CodeInvalidValue, fmt.Sprintf("%d is not from 0 to 7", *class.bits), "")
		default:
			mode |= fs.FileMode(*class.bits)
		}
	}
	return mode
}

// parsePermissions reads permissions written as text. Special bits are
// refused, for nothing here could keep them.
func parsePermissions(s string) (fs.FileMode, error) {
	if mode, ok := parseOctal(s); ok {
		return mode, nil
	}
	letters := s
	if len(s) == 10 && (s[0] == '-' || s[0] == 'd') {
		letters = s[1:]
	}
	if len(letters) != 9 {
		return 0, fmt.Errorf("%q does not have the form of permissions", s)
	}
	var mode fs.FileMode
	for i, c := range []byte(letters) {
		mode <<= 1
		switch c {
		case "rwx"[i%3]:
			mode |= 1
		case '-':
		default:
			return 0, fmt.Errorf("%q has %q where %q or \"-\" is expected", s, c, "rwx"[i%3])
		}
	}
	return mode, nil
}

func parseOctal(s string) (fs.FileMode, bool) {
	if len(s) != 3 && (len(s) != 4 || s[0] != '0') {
		return 0, false
	}
	var mode fs.FileMode
	for _, c := range []byte(s) {
		if c < '0' || c > '7' {
			return 0, false
		}
		mode = mode<<3 | fs.FileMode(c-'0')
	}
	return mode, true
}

func (b *BoxMount) aliases() []alias {
	return append(b.Mount.aliases(), alias{
		name: "folder_id", replaces: []string{"root_folder_id"},
		decode: func(d *decoder, n *node, at *docPath) { b.RootFolderID = d.text(n, at, "") },
	})
}

func (p *MountpointPattern) aliases() []alias {
	return []alias{optionsOf(p, "prefix", "region", "endpoint_url")}
}

func (p *S3FilesPattern) aliases() []alias {
	return []alias{optionsOf(p, "mount_target_ip", "access_point", "region", "extra_options")}
}

// optionsOf is the SDK's nesting of some of a pattern's keys in one of their own.
func optionsOf(pattern any, keys ...string) alias {
	return alias{name: "options", replaces: keys, decode: func(d *decoder, n *node, at *docPath) {
		v := reflect.ValueOf(pattern).Elem()
		outside := slices.DeleteFunc(infoOf(v.Type()).names([]alias{{name: "options"}}), func(name string) bool {
			return slices.Contains(keys, name)
		})
		for _, p := range n.pairs {
			if slices.Contains(outside, p.key) {
				d.unknownKey(p, at.field(p.key), keys)
			}
		}
		d.object(n, at, v, outside...)
	}}
}

func (t *Tmpfs) decodeNode(d *decoder, n *node, at *docPath) {
	if n.kind == boolNode {
		if !isTrue(n) {
			d.report(n.pos, at, CodeInvalidValue, "is false", "leave the key out")
		}
		return
	}
	d.object(n, at, reflect.ValueOf(t).Elem())
}

func (t Tmpfs) encodeNode() *node {
	if t == (Tmpfs{}) {
		return newBool(true)
	}
	return encodeStruct(reflect.ValueOf(t))
}

func (c *Credential) decodeNode(d *decoder, n *node, at *docPath) {
	if n.kind == mapNode {
		var ref SecretRef
		d.object(n, at, reflect.ValueOf(&ref).Elem())
		c.Secret = ref.Secret
		return
	}
	c.Value = d.text(n, at, "")
}

func (c Credential) encodeNode() *node {
	if c.Secret != "" {
		return &node{kind: mapNode, pairs: []pair{{key: "secret", value: newText(c.Secret)}}}
	}
	return newText(c.Value)
}
