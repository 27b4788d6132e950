package manifest

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkFindings decodes a document and compares the summaries of what is found.
func checkFindings(t *testing.T, doc string, want ...string) {
	t.Helper()
	_, got, err := Decode(strings.NewReader(doc), DecodeOptions{})
	if diff := cmp.Diff(want, summary(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s%v", diff, err)
	}
}

// TestEntryKeys has the keys that the SDKs treat in different ways: each is
// cleaned or refused here, at its place.
func TestEntryKeys(t *testing.T) {
	tests := []struct{ key, clean, code string }{
		{"a//b", "a/b", ""},
		{"./a", "a", ""},
		{"a/", "a", ""},
		{`a\b`, "a/b", ""},
		{"~/x", "~/x", ""},
		{" x", " x", ""},
		{"a/../b", "", ReasonEscapeRoot},
		{`a\..\b`, "", ReasonEscapeRoot},
		{"../x", "", ReasonEscapeRoot},
		{"..", "", ReasonEscapeRoot},
		{"/abs", "", ReasonAbsolute},
		{`\abs`, "", ReasonAbsolute},
		{`C:\x`, "", ReasonAbsolute},
		{"C:/x", "", ReasonAbsolute},
		{"C:x", "", ReasonAbsolute},
		{`\\host\x`, "", ReasonAbsolute},
		{"", "", ReasonEmpty},
		{".", "", ReasonEmpty},
		{"./", "", ReasonEmpty},
		{"a\x00b", "", ReasonNUL},
		{strings.Repeat("x", 256), "", ReasonComponentTooLong},
		{strings.Repeat("abcdefg/", 513), "", ReasonTooLong},
	}
	places := []struct{ name, before, after, position, path, dir string }{
		{"entry", `{"entries": {`, `: {"type": "file"}}}`, "1:14", "entries", ""},
		{"child", `{"entries": {"d": {"type": "dir", "children": {`, `: {"type": "file"}}}}}`, "1:48", `entries["d"].children`, "d/"},
	}
	for _, tt := range tests {
		for _, place := range places {
			t.Run(place.name+" "+strconv.Quote(tt.key[:min(len(tt.key), 20)]), func(t *testing.T) {
				key, err := json.Marshal(tt.key)
				if err != nil {
					t.Fatal(err)
				}
				doc := place.before + string(key) + place.after
				if tt.code != "" {
					checkFindings(t, doc, place.position+" "+tt.code+" "+place.path+"["+strconv.Quote(tt.key)+"]")
					return
				}
				checkFindings(t, doc)
				all := decodeString(t, doc, DecodeOptions{}).Flatten()
				if got := all[len(all)-1].Path; got != place.dir+tt.clean {
					t.Errorf("got path %q, want %q", got, place.dir+tt.clean)
				}
			})
		}
	}
}

// TestSDKDifferences has what one of the SDKs lets pass, or does by itself.
func TestSDKDifferences(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"entries of null", "entries: null", nil},
		{"entries are a list", "entries: []", []string{"1:10 wrong_type entries"}},
		{"a child with directories", "entries: {d: {type: dir, children: {x/y: {type: file}}}}", nil},
		{"a dot as a child", "entries: {d: {type: dir, children: {.: {type: file}}}}", []string{`1:37 empty entries["d"].children["."]`}},

		{"relative root", "root: work", []string{"1:7 invalid_value root"}},
		{"empty root", `root: ""`, []string{"1:7 empty root"}},
		{"root of the file system", "root: /", []string{"1:7 invalid_value root"}},
		{"root that is not clean", "root: /a//b", []string{"1:7 invalid_value root"}},
		{"root with parent", "root: /a/../b", []string{"1:7 escape_root root"}},
		{"root with NUL", `root: "/a\0"`, []string{"1:7 nul root"}},
		{"root of null", "root: null", nil},

		{"missing type", "entries: {a: {content: x}}", []string{`1:14 missing entries["a"]`}},
		{"unknown type", "entries: {a: {type: files}}", []string{`1:21 unknown_type entries["a"].type`}},
		{"an entry type of the ADK's own", "entries: {a: {type: sandbox_x}}", []string{`1:21 unknown_type entries["a"].type`}},
		{"a key of another type", "entries: {a: {type: file, src: x}}", []string{`1:27 unknown_key entries["a"].src`}},
		{"a mode is not dropped", `entries: {a: {type: file, mode: "0640"}}`, nil},
		{"a flat environment is not dropped", `environment: {A: "1"}`, nil},
		{"content of a number", "entries: {a: {type: file, content: 1}}", []string{`1:36 wrong_type entries["a"].content`}},
		{"no source of a file", "entries: {a: {type: local_file, src: ''}}", []string{`1:38 missing entries["a"].src`}},
		{"no source of a directory", "entries: {a: {type: local_dir, src: null}}", nil},
		{"empty source of a directory", "entries: {a: {type: local_dir, src: ''}}", []string{`1:37 empty entries["a"].src`}},
		{
			"acknowledged exposure is the caller's", "entries: {m: {type: box_mount, mount_strategy: {type: docker_volume, acknowledge_credential_exposure: true}}}",
			[]string{`1:70 unknown_key entries["m"].mount_strategy.acknowledge_credential_exposure`},
		},
		{"version 2", "version: 2", []string{"1:10 unsupported_version version"}},

		{"group without users", "groups: [{name: dev}]", nil},
		{"empty user name", "users: [{name: ''}]", []string{"1:16 missing users[0].name"}},
		{"user name with a colon", "users: [{name: 'a:b'}]", []string{"1:16 invalid_value users[0].name"}},
		{"user twice", "users: [{name: a}, {name: a}]", []string{"1:27 duplicate users[1].name"}},
		{"group twice", "groups: [{name: a, users: []}, {name: a, users: []}]", []string{"1:39 duplicate groups[1].name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkFindings(t, tt.doc, tt.want...) })
	}
}

// TestPermissionFindings is about every form of permissions that one of the
// SDKs reads in its own way. What is not exactly one of our forms is refused,
// and nothing is masked.
func TestPermissionFindings(t *testing.T) {
	tests := []struct{ permissions, position, code, path string }{
		{`rwxr-xr-x`, "", "", ""},
		{`-rwxr-xr-x`, "", "", ""},
		{`drwxr-xr-x`, "", "", ""},
		{`-rwxr-xr-x@`, "1:40", CodeInvalidValue, ""},
		{`-rwxr-xr-x+`, "1:40", CodeInvalidValue, ""},
		{`-rwxr-xr-x.`, "1:40", CodeInvalidValue, ""},
		{`-rwxr-xr-xx`, "1:40", CodeInvalidValue, ""},
		{`-rwsr-xr-x`, "1:40", CodeInvalidValue, ""},
		{`-rwSr--r--`, "1:40", CodeInvalidValue, ""},
		{`drwxrwxrwt`, "1:40", CodeInvalidValue, ""},
		{`drwxrwxrwT`, "1:40", CodeInvalidValue, ""},
		{`-rwtr--r--`, "1:40", CodeInvalidValue, ""},
		{`lrwxrwxrwx`, "1:40", CodeInvalidValue, ""},
		{`srwxr-xr-x`, "1:40", CodeInvalidValue, ""},
		{`brw-rw----`, "1:40", CodeInvalidValue, ""},
		{`rwx`, "1:40", CodeInvalidValue, ""},
		{`""`, "1:40", CodeInvalidValue, ""},
		{`"4755"`, "1:40", CodeInvalidValue, ""},
		{`"040755"`, "1:40", CodeInvalidValue, ""},
		{`0755`, "1:40", CodeWrongType, ""},
		{`-1`, "1:40", CodeWrongType, ""},
		{`true`, "1:40", CodeWrongType, ""},
		{`[7, 5, 5]`, "1:40", CodeWrongType, ""},
		{`{owner: 9, group: 5, other: 5}`, "1:48", CodeInvalidValue, ".owner"},
		{`{owner: 7, group: -1, other: 5}`, "1:58", CodeInvalidValue, ".group"},
		{`{owner: 7, group: 5, other: true}`, "1:68", CodeWrongType, ".other"},
		{`{owner: 7, group: 5}`, "1:40", CodeMissing, ".other"},
		{`{owner: 7, group: 5, other: 5, directory: false}`, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.permissions, func(t *testing.T) {
			doc := "entries: {f: {type: file, permissions: " + tt.permissions + "}}"
			if tt.code == "" {
				checkFindings(t, doc)
				return
			}
			checkFindings(t, doc, tt.position+" "+tt.code+` entries["f"].permissions`+tt.path)
		})
	}
}

// TestNamesThatHaveCausedTrouble are names that archives, file systems of other
// platforms or layers treat in ways that nobody wants.
func TestNamesThatHaveCausedTrouble(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"a path written in two ways", "entries:\n  x: {type: file}\n  ./x: {type: file}\n", []string{`3:3 duplicate_path entries["x"]`}},
		{
			"names equal but for case", "entries:\n  README: {type: file}\n  readme: {type: file}\n  Readme: {type: file}\n",
			[]string{`3:3 name_collision entries["readme"]`, `4:3 name_collision entries["Readme"]`},
		},
		{"directories equal but for case warn once", "entries:\n  A/x: {type: file}\n  a/y: {type: file}\n  a/z: {type: file}\n", []string{`3:3 name_collision entries["a/y"]`}},
		{"names equal but for normalisation", "entries:\n  \"caf\\u00e9\": {type: file}\n  \"cafe\\u0301\": {type: file}\n", []string{"3:3 name_collision entries[\"cafe\u0301\"]"}},
		{"names that fold only together", "entries:\n  K: {type: file}\n  \"\\u212a\": {type: file}\n", []string{"3:3 name_collision entries[\"\u212a\"]"}},
		{"a name of a deletion", "entries:\n  d/.wh.foo: {type: file}\n", []string{`2:3 whiteout_name entries["d/.wh.foo"]`}},
		{"a name of a child is looked at alone", "entries: {d: {type: dir, children: {.wh..wh..opq: {type: file}}}}", []string{`1:37 whiteout_name entries["d"].children[".wh..wh..opq"]`}},
		{"a line break in a name", `entries: {"a\nb": {type: file}}`, []string{`1:11 control_character entries["a\nb"]`}},
		{"a name that is not UTF-8", "entries: {\"a\xff\": {type: file}}", []string{"1:13 encoding "}},
		{"a deep path that implies its parents", "entries: {a/b/c: {type: file}}", nil},
		{"a path of 4000 bytes", "entries: {? " + strings.Repeat("abcdefg/", 500) + "x : {type: file}}", nil},
		{"a token in an address", "entries: {r: {type: git_repo, url: 'https://x:t0k3n@h/r.git'}}", []string{`1:36 invalid_value entries["r"].url`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkFindings(t, tt.doc, tt.want...) })
	}
}

func TestDuplicatePathNamesBothPlaces(t *testing.T) {
	_, list, _ := Decode(strings.NewReader("entries:\n  x: {type: file}\n  ./x: {type: file}\n"), DecodeOptions{Filename: "w.yaml"})
	if len(list) != 1 || !strings.HasPrefix(list[0].String(), "w.yaml:3:3: ") || !strings.Contains(list[0].Message, "2:3") {
		t.Errorf("got %v, want one finding at 3:3 that names 2:3", list)
	}
}

// TestFindingsOfJSON has the positions of the other front end.
func TestFindingsOfJSON(t *testing.T) {
	doc := `{
  "version": 3,
  "entries": {
    "../a": {"type": "file", "mode": 644},
    "é": {"type": "flie"},
    "b": {"type": "git_repo", "ref": "-x"}, "c": {"type": "dir"}, "c": {"type": "dir"}
  },
  "environment": {"variables": {"A": true}}
}`
	want := []string{
		"2:14 unsupported_version version",
		`4:5 escape_root entries["../a"]`, `4:38 wrong_type entries["../a"].mode`,
		`5:19 unknown_type entries["é"].type`,
		`6:5 missing entries["b"].repo`, `6:38 invalid_value entries["b"].ref`, `6:67 duplicate_key entries["c"]`,
		`8:38 wrong_type environment["A"]`,
	}
	checkFindings(t, doc, want...)
}

// TestFindingsOfLargeDocuments: a document of the largest size is decoded, and
// what is wrong at its end is found there.
func TestFindingsOfLargeDocuments(t *testing.T) {
	const before, after = "entries:\n  f:\n    type: file\n    content: |\n", "nmae: x\n"
	line := "      " + strings.Repeat("x", 1017) + "\n"
	lines := (MaxSize - len(before) - len(after)) / len(line)
	content := before + strings.Repeat(line, lines)
	end := strconv.Itoa(strings.Count(before, "\n") + lines + 1)

	m := decodeString(t, content, DecodeOptions{Format: FormatYAML})
	if got, want := len(m.Entries[0].Entry.(*File).Content), lines*(len(line)-len("      ")); got != want {
		t.Errorf("got %d bytes of content, want %d", got, want)
	}
	checkFindings(t, content+after, end+":1 unknown_key nmae")
	checkFindings(t, content+"@\n", end+":1 syntax ")
}

// TestDeepPathsCostWhatTheyTakeUp guards against work for each path that grows
// with the square of its depth.
func TestDeepPathsCostWhatTheyTakeUp(t *testing.T) {
	var b strings.Builder
	b.WriteString("entries:\n")
	for i := range 100 {
		b.WriteString("  ? d" + strconv.Itoa(i) + "/" + strings.Repeat("a/", 2030) + "x\n  : {type: file}\n")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := decodeString(t, b.String(), DecodeOptions{Format: FormatYAML})
	m.Tree(TreeOptions{})
	runtime.ReadMemStats(&after)
	if perByte := (after.TotalAlloc - before.TotalAlloc) / uint64(b.Len()); perByte > 600 {
		t.Errorf("allocates %d bytes for each byte of the document", perByte)
	}
}
