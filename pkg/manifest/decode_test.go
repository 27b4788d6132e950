package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// summary is a finding in one line: position, code and document path.
func summary(list []Finding) []string {
	var lines []string
	for _, f := range list {
		lines = append(lines, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Path))
	}
	return lines
}

func decodeString(t *testing.T, doc string, opts DecodeOptions) *Manifest {
	t.Helper()
	m, _, err := Decode(strings.NewReader(doc), opts)
	if err != nil {
		t.Fatalf("Decode failed on\n%s\n%v", doc, err)
	}
	return m
}

func TestDecodeFindings(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"unknown key at the top", "nmae: x\n", []string{"1:1 unknown_key nmae"}},
		{"unknown key in an entry", "entries:\n  a:\n    type: file\n    contnet: x\n", []string{`4:5 unknown_key entries["a"].contnet`}},
		{"unknown key in a child", "entries:\n  d:\n    type: dir\n    children:\n      f: {type: file, mod: '0644'}\n", []string{`5:23 unknown_key entries["d"].children["f"].mod`}},
		{"unknown key in a list", "users:\n- name: a\n  nick: b\n", []string{"3:3 unknown_key users[0].nick"}},
		{"extensions only at the top", "x-a: {b: 1}\nentries: {f: {type: file, x-b: 1}}\n", []string{`2:27 unknown_key entries["f"].x-b`}},
		{"unknown type", "entries: {a: {type: flie}}\n", []string{`1:21 unknown_type entries["a"].type`}},
		{"missing type", "entries: {a: {content: x}}\n", []string{`1:14 missing entries["a"]`}},
		{"entry of null", "entries: {a: null}\n", []string{`1:14 wrong_type entries["a"]`}},
		{"list for mapping", "entries: [a]\n", []string{"1:10 wrong_type entries"}},
		{"number for string", "name: 12\n", []string{"1:7 wrong_type name"}},
		{"string for boolean", "entries: {a: {type: file, ephemeral: 'true'}}\n", []string{`1:38 wrong_type entries["a"].ephemeral`}},
		{"yes is a string", "entries: {a: {type: file, ephemeral: yes}}\n", []string{`1:38 wrong_type entries["a"].ephemeral`}},
		{"null in a list", "command: [a, null]\n", []string{"1:14 wrong_type command[1]"}},
		{"duplicate key", "name: a\nbase: b\nname: c\n", []string{"3:1 duplicate_key name"}},
		{"duplicate entry", "entries:\n  a: {type: file}\n  a: {type: dir}\n", []string{`3:3 duplicate_key entries["a"]`}},
		{"duplicate label", "labels: {a: b, a: c}\n", []string{`1:16 duplicate_key labels["a"]`}},
		{"version in quotes", "version: '1'\n", []string{"1:10 wrong_type version"}},
		{"other version", "version: 2\n", []string{"1:10 unsupported_version version"}},
		{"merge key", "x-a: &a {type: file}\nentries:\n  f:\n    <<: *a\n", []string{"4:5 syntax "}},
		{"paths", "entries:\n  /a: {type: file}\n  b/../c: {type: file}\n  '': {type: file}\n  C:\\d: {type: file}\n", []string{
			`2:3 absolute entries["/a"]`, `3:3 escape_root entries["b/../c"]`, `4:3 empty entries[""]`, `5:3 absolute entries["C:\\d"]`,
		}},
		{"path in a child", "entries: {d: {type: dir, children: {../x: {type: file}}}}\n", []string{`1:37 escape_root entries["d"].children["../x"]`}},
		{"equal after cleaning", "entries:\n  a//b: {type: file}\n  ./a\\b: {type: file}\n", []string{`3:3 duplicate_path entries["a/b"]`}},
		{"equal through children", "entries:\n  d/f: {type: file}\n  d: {type: dir, children: {f: {type: file}}}\n", []string{`3:29 duplicate_path entries["d"].children["f"]`}},
		{"below a file", "entries:\n  a/b/c: {type: file}\n  a: {type: file}\n", []string{`2:3 below_non_directory entries["a/b/c"]`}},
		{"below a mount", "entries:\n  m: {type: s3_mount, bucket: b, mount_path: data}\n  data/x: {type: file}\n  m/y: {type: file}\n", []string{`3:3 below_non_directory entries["data/x"]`}},
		{"seeding a volume", "entries:\n  v: {type: volume_mount}\n  v/x: {type: file}\n", nil},
		{"two mounts on a target", "entries:\n  a: {type: s3_mount, bucket: b, mount_path: t}\n  t: {type: box_mount}\n", []string{`3:3 duplicate_path entries["t"]`}},
		{"a mount on a declared directory", "entries:\n  t: {type: dir}\n  a: {type: s3_mount, bucket: b, mount_path: t}\n", nil},
		{"mount path outside", "entries:\n  a: {type: s3_mount, bucket: b, mount_path: /mnt}\n  b: {type: s3_mount, bucket: b, mount_path: /workspace}\n  c: {type: s3_mount, bucket: b, mount_path: ''}\n", []string{
			`2:46 absolute entries["a"].mount_path`, `3:46 absolute entries["b"].mount_path`, `4:46 empty entries["c"].mount_path`,
		}},
		{"mode and permissions", "entries: {a: {type: file, mode: '0644', permissions: rw-r--r--}}\n", []string{`1:41 conflict entries["a"].permissions`}},
		{"content twice", "entries: {a: {type: file, content: x, content_base64: eA==}}\n", []string{`1:39 conflict entries["a"].content_base64`}},
		{"is_dir contradicts", "entries: {a: {type: file, is_dir: true}}\n", []string{`1:35 conflict entries["a"].is_dir`}},
		{"empty source", "entries: {a: {type: local_dir, src: ''}, b: {type: local_file, src: ''}}\n", []string{`1:37 empty entries["a"].src`, `1:69 missing entries["b"].src`}},
		{"missing source", "entries:\n  a: {type: local_file}\n", []string{`2:3 missing entries["a"].src`}},
		{"several at once", "version: 3\nnmae: x\nroot: rel\nentries:\n  ../a: {type: file, mode: 644}\n  b: {type: git_repo}\n", []string{
			"1:10 unsupported_version version", "2:1 unknown_key nmae", "3:7 invalid_value root",
			`5:3 escape_root entries["../a"]`, `5:28 wrong_type entries["../a"].mode`, `6:3 missing entries["b"].repo`,
		}},
		{"warnings", "entries:\n  .wh.a: {type: file}\n  \"b\\tc\": {type: file}\n  A/x: {type: file}\n  a/y: {type: file}\n  d: {type: dir, ephemeral: true, children: {e: {type: file}}}\n", []string{
			`2:3 whiteout_name entries[".wh.a"]`, `3:3 control_character entries["b\tc"]`,
			`5:3 name_collision entries["a/y"]`, `6:3 ephemeral_dir entries["d"]`,
		}},
		{"normalisation collision", "entries: {\"caf\\u00e9\": {type: file}, \"cafe\\u0301\": {type: file}}\n", []string{"1:38 name_collision entries[\"cafe\u0301\"]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, err := Decode(strings.NewReader(tt.doc), DecodeOptions{Format: FormatYAML})
			if diff := cmp.Diff(tt.want, summary(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s%v", diff, err)
			}
		})
	}
}

func TestDecodeError(t *testing.T) {
	doc := "nmae: x\nentries:\n  .wh.x: {type: file}\n  a: {type: flie}\n"
	m, list, err := Decode(strings.NewReader(doc), DecodeOptions{Filename: "w.yaml"})
	if m != nil || !errors.Is(err, ErrInvalid) || len(list) != 3 {
		t.Fatalf("got %v, %d findings, %v; want no manifest, 3 findings and ErrInvalid", m, len(list), err)
	}
	want := "w.yaml:1:1: nmae: unknown key \"nmae\" (did you mean \"name\"?)\n" +
		"w.yaml:4:13: entries[\"a\"].type: unknown type \"flie\" (did you mean \"file\"?)"
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
}

func TestDecodeReadError(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := Decode(iotest.ErrReader(broken), DecodeOptions{Filename: "w.yaml"})
	if !errors.Is(err, broken) || errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestDecodeFormat(t *testing.T) {
	tests := []struct {
		name, file, doc string
		format          Format
		want            string // the decoded name, or the code of the error
	}{
		{"YAML by content", "", "name: ${V}", FormatAuto, "set"},
		{"JSON by content", "", ` {"name": "a"}`, FormatAuto, "a"},
		{"empty JSON object", "", `{}`, FormatAuto, ""},
		{"YAML flow mapping", "", `{name: a}`, FormatAuto, "a"},
		{"JSON by name", "w.json", `{name: a}`, FormatAuto, CodeSyntax},
		{"YAML by name", "w.yml", `{"name": "${V}"}`, FormatAuto, "set"},
		{"JSON on request", "w.yaml", `name: a`, FormatJSON, CodeSyntax},
		{"JSON is literal", "w.json", `{"name": "${V}"}`, FormatAuto, CodeInvalidValue},
		{"byte order mark", "", "\uFEFFname: a", FormatAuto, "a"},
		{"byte order mark before JSON", "", "\uFEFF{\"name\": \"a\"}", FormatAuto, "a"},
		{"UTF-16 with mark", "", "\xFF\xFEn\x00", FormatAuto, CodeEncoding},
		{"UTF-16 without mark", "", "{\x00}\x00", FormatAuto, CodeEncoding},
		{"not UTF-8", "", "name: \xff", FormatAuto, CodeEncoding},
		{"empty", "", "", FormatAuto, CodeEmptyDocument},
		{"only a comment", "", "# nothing\n", FormatAuto, CodeEmptyDocument},
		{"null", "", "null", FormatAuto, CodeEmptyDocument},
		{"empty JSON", "w.json", " ", FormatAuto, CodeEmptyDocument},
		{"two documents", "", "name: a\n---\nname: b\n", FormatAuto, CodeMultipleDocuments},
		{"end marker", "", "---\nname: a\n...\n", FormatAuto, "a"},
		{"list", "", "- a\n", FormatAuto, CodeWrongType},
	}
	lookup := func(name string) (string, bool) { return "set", name == "V" }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, list, err := Decode(strings.NewReader(tt.doc), DecodeOptions{Filename: tt.file, Format: tt.format, Lookup: lookup})
			got := ""
			if err != nil {
				got = list[0].Code
			} else {
				got = m.Name
			}
			if got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestDecodeInterpolatesJSONOnRequest(t *testing.T) {
	opts := DecodeOptions{Interpolate: true, Lookup: func(string) (string, bool) { return "x", true }}
	if m := decodeString(t, `{"name": "${V}"}`, opts); m.Name != "x" {
		t.Errorf("got name %q, want x", m.Name)
	}
}

func TestDecodeEntryForms(t *testing.T) {
	mode := func(m fs.FileMode) *fs.FileMode { return &m }
	tests := []struct {
		name, entry string
		want        Entry
	}{
		{"file", `{type: file, content: "a\n"}`, &File{Content: []byte("a\n")}},
		{"file without content", `{type: file}`, &File{}},
		{"content of null", `{type: file, content: null}`, &File{}},
		{"base64", `{type: file, content_base64: "/w=="}`, &File{Content: []byte{0xff}}},
		{"account objects", `{type: dir, owner: {name: a}, group: {name: g, users: [{name: a}]}}`, &Dir{Attributes: Attributes{Owner: "a", Group: "g"}}},
		{"permission bits", `{type: file, permissions: {owner: 6, group: 4, other: 0}}`, &File{Attributes: Attributes{Mode: mode(0o640)}}},
		{"ADK links", `{type: local_dir, src: s, follow_symlinks: true}`, &LocalDir{Src: "s", Symlinks: SymlinksFollow}},
		{"ADK no links", `{type: local_dir, src: s, follow_symlinks: false}`, &LocalDir{Src: "s", Symlinks: SymlinksKeep}},
		{"ignore file", `{type: local_dir, src: s, ignore_file: .dockerignore}`, &LocalDir{Src: "s", Symlinks: SymlinksKeep, IgnoreFile: &IgnoreFile{".dockerignore", DialectDockerignore}}},
		{"git ignore file", `{type: local_dir, src: s, ignore_file: {path: .gitignore, dialect: gitignore}}`, &LocalDir{Src: "s", Symlinks: SymlinksKeep, IgnoreFile: &IgnoreFile{".gitignore", DialectGitignore}}},
		{"git", `{type: git_repo, repo: a/b}`, &GitRepo{Host: "github.com", Repo: "a/b", Depth: 1}},
		{"whole history", `{type: git_repo, repo: a/b, depth: null}`, &GitRepo{Host: "github.com", Repo: "a/b"}},
		{"tmpfs", `{type: volume_mount, tmpfs: true}`, &VolumeMount{Mount: Mount{Attributes: Attributes{Ephemeral: true}}, Driver: "local", Tmpfs: &Tmpfs{}}},
		{"tmpfs with size", `{type: volume_mount, tmpfs: {size: 64m, mode: "0700"}}`, &VolumeMount{Mount: Mount{Attributes: Attributes{Ephemeral: true}}, Driver: "local", Tmpfs: &Tmpfs{Size: 64 << 20, Mode: mode(0o700)}}},
		{"mount path of the SDK", `{type: box_mount, mount_path: /workspace//m}`, &BoxMount{Mount: Mount{Attributes: Attributes{Ephemeral: true}, MountPath: "m", ReadOnly: true, Strategy: &DockerVolume{Driver: "rclone"}}, BoxSubType: "user"}},
		{"secret credential", `{type: r2_mount, bucket: b, account_id: i, access_key_id: k, secret_access_key: {secret: s}}`, &R2Mount{
			Mount:  Mount{Attributes: Attributes{Ephemeral: true}, ReadOnly: true, Strategy: &DockerVolume{Driver: "rclone"}},
			Bucket: "b", AccountID: "i", AccessKeyID: &Credential{Value: "k"}, SecretAccessKey: &Credential{Secret: "s"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := decodeString(t, "secrets: {s: {env: S}}\nentries: {e: "+tt.entry+"}\n", DecodeOptions{})
			if diff := cmp.Diff(tt.want, m.Entries[0].Entry); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeKeysAsWritten(t *testing.T) {
	m := decodeString(t, "entries: {1.10: {type: file}, 010: {type: file}, yes: {type: file}, ~: {type: file}}\n", DecodeOptions{})
	var got []string
	for _, e := range m.Entries {
		got = append(got, e.Path)
	}
	if diff := cmp.Diff([]string{"1.10", "010", "yes", "~"}, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestFlatten(t *testing.T) {
	m := decodeString(t, "entries:\n  z: {type: file}\n  d/e:\n    type: dir\n    children:\n      ./b: {type: file}\n      c//d: {type: dir, children: {f: {type: file}}}\n  a: {type: file}\n", DecodeOptions{})
	var got []string
	for _, e := range m.Flatten() {
		got = append(got, fmt.Sprintf("%s %s %d:%d", e.Entry.Type(), e.Path, e.Pos.Line, e.Pos.Column))
	}
	want := []string{"file z 2:3", "dir d/e 3:3", "file d/e/b 6:7", "dir d/e/c/d 7:7", "file d/e/c/d/f 7:36", "file a 8:3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestCloneURL(t *testing.T) {
	tests := []struct {
		name string
		repo GitRepo
		want string
	}{
		{"host and repo", GitRepo{Host: "git.example", Repo: "a/b/c"}, "https://git.example/a/b/c.git"},
		{"default host", GitRepo{Repo: "a/b"}, "https://github.com/a/b.git"},
		{"suffix is there", GitRepo{Repo: "a/b.git"}, "https://github.com/a/b.git"},
		{"URL", GitRepo{Host: "github.com", URL: "ssh://git@h/x"}, "ssh://git@h/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.repo.CloneURL(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
