package manifest

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestDialects decodes what the SDKs write. The golden files say what each
// field became; defaults are left out there.
func TestDialects(t *testing.T) {
	for _, name := range []string{"openai-agents-0.22-manifest", "augments-adk-manifest"} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m, list, err := Decode(f, DecodeOptions{Filename: f.Name()})
			if err != nil || len(list) > 0 {
				t.Fatalf("findings %v, error %v", list, err)
			}
			canonical, err := m.CanonicalYAML()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".golden.yaml", canonical)
		})
	}
}

// TestDialectDefaults checks what the golden files leave out.
func TestDialectDefaults(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "openai-agents-0.22-manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, _, err := Decode(f, DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mode := fs.FileMode(0o755)
	attributes := Attributes{Ephemeral: true, Mode: &mode}
	want := map[string]Entry{
		"s3": &S3Mount{
			Mount: Mount{Attributes: attributes, ReadOnly: true, Strategy: &DockerVolume{
				Driver: "rclone", DriverOptions: map[string]string{"vfs-cache-mode": "writes"},
			}},
			Bucket: "datasets", Prefix: "train/v3", Region: "eu-central-1", S3Provider: "AWS",
		},
		"az": &AzureBlobMount{
			Mount: Mount{Attributes: attributes, ReadOnly: true, Strategy: &InContainer{Pattern: &FusePattern{
				AllowOther: true, LogType: "syslog", LogLevel: "log_debug", CacheType: "block_cache",
				BlockCacheBlockSizeMB: 16, BlockCacheDiskTimeoutSec: 3600, FileCacheTimeoutSec: 120,
			}}},
			Account: "acct", Container: "reports",
		},
		"repo": &GitRepo{
			Attributes: Attributes{Mode: &mode},
			Host:       "github.com", Repo: "acme/widget", Ref: "v1.2.0", Subpath: "services/api", Depth: 1,
		},
	}
	for _, e := range m.Entries {
		if w, ok := want[e.Path]; ok {
			if diff := cmp.Diff(w, e.Entry); diff != "" {
				t.Errorf("entry %s (-want +got):\n%s", e.Path, diff)
			}
			delete(want, e.Path)
		}
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

func TestDigestIgnoresSpelling(t *testing.T) {
	docs := map[string]string{
		"YAML":       "name: a\nentries:\n  d/f: {type: file, content: x, mode: '0755'}\n  m: {type: s3_mount, bucket: b}\nenvironment: {B: '2', A: '1'}\nports: [80]\n",
		"other keys": "# order of keys\nports: ['80/tcp']\nenvironment:\n  variables: {A: '1', B: {type: str, value: '2'}}\nentries:\n  ./d//f:\n    mode: '755'\n    content: x\n    type: file\n  m: {bucket: b, type: s3_mount, mount_strategy: {type: docker_volume, driver_options: {}}}\nname: a\nroot: /workspace\nusers: []\nnetwork: default\n",
		"JSON":       `{"version":1,"name":"a","base":null,"entries":{"d/f":{"type":"file","content_base64":"eA==","permissions":{"owner":7,"group":5,"other":5},"is_dir":false},"m":{"type":"s3_mount","bucket":"b","read_only":true,"ephemeral":true,"s3_provider":"AWS"}},"environment":{"value":{"A":"1","B":"2"}},"ports":[{"port":80,"host_ip":"127.0.0.1"}],"resources":{}}`,
	}
	want := ""
	for name, doc := range docs {
		d, err := decodeString(t, doc, DecodeOptions{}).Digest()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = d.String()
		}
		if d.String() != want {
			t.Errorf("%s: digest %s differs from %s", name, d, want)
		}
	}
	other, err := decodeString(t, strings.Replace(docs["YAML"], "content: x", "content: y", 1), DecodeOptions{}).Digest()
	if err != nil || other.String() == want {
		t.Errorf("other content has digest %s, error %v", other, err)
	}
}

func TestDigestKnowsTheOrderOfEntries(t *testing.T) {
	a, errA := decodeString(t, "entries: {a: {type: file}, b: {type: file}}", DecodeOptions{}).Digest()
	b, errB := decodeString(t, "entries: {b: {type: file}, a: {type: file}}", DecodeOptions{}).Digest()
	if a == b || errA != nil || errB != nil {
		t.Errorf("digests %s and %s, errors %v and %v", a, b, errA, errB)
	}
}

func TestDigestOfManifestsBuiltInGo(t *testing.T) {
	want, err := decodeString(t, "{}", DecodeOptions{}).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := new(Manifest).Digest(); got != want || err != nil {
		t.Errorf("the zero manifest has digest %s, error %v; want %s of {}", got, err, want)
	}
}

func TestCanonicalRefusesWhatJSONCannotHold(t *testing.T) {
	m := &Manifest{Labels: map[string]string{"a": "\xff"}}
	if b, err := m.Canonical(); err == nil {
		t.Errorf("got %s", b)
	}
	if b, err := m.CanonicalYAML(); err == nil {
		t.Errorf("got %s", b)
	}
}

// TestCanonicalRoundTrip: decoding the canonical form gives the manifest
// again, and writing that gives the same bytes.
func TestCanonicalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawManifest(t)
		if err := m.Validate(); err != nil {
			t.Fatalf("the generator makes invalid manifests: %v", err)
		}
		for name, write := range map[string]func() ([]byte, error){"w.json": m.Canonical, "w.yaml": m.CanonicalYAML} {
			doc, err := write()
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := Decode(bytes.NewReader(doc), DecodeOptions{Filename: name})
			if err != nil {
				t.Fatalf("%v in\n%s", err, doc)
			}
			ignore := cmp.Options{cmpopts.IgnoreFields(KeyedEntry{}, "Pos"), cmpopts.EquateEmpty()}
			if diff := cmp.Diff(m, got, ignore); diff != "" {
				t.Fatalf("manifest (-written +read):\n%s\n%s", diff, doc)
			}
			before, _ := m.Digest()
			after, err := got.Digest()
			if err != nil || before != after {
				t.Fatalf("digest %s became %s, error %v", before, after, err)
			}
		}
	})
}

// anyText has what is hard to quote.
var anyText = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "~", "null", "yes", "010", "0o17", "1e3", ".5", "+.inf", "<<", "=", "- a", "a: b", "# c", " a ", "a\n", "\n a\n\n", "\ta\n b", "a\r\nb", "${V}", "$$", "$V", "\u0085", "\u2028x", "\uFEFF", "\x00\x7f"}),
)

func draw[T any](t *rapid.T, g *rapid.Generator[T]) T { return g.Draw(t, "v") }

func optional[T any](t *rapid.T, g *rapid.Generator[T]) *T {
	if !rapid.Bool().Draw(t, "set") {
		return nil
	}
	v := g.Draw(t, "v")
	return &v
}

func drawManifest(t *rapid.T) *Manifest {
	texts := rapid.SliceOfN(anyText, 0, 3)
	m := new(Manifest)
	m.setDefaults()
	m.Name = draw(t, rapid.SampledFrom([]string{"", "ws", "0"}))
	m.Base = draw(t, rapid.SampledFrom([]string{"", "scratch", "a.b:5/c@sha256:00"}))
	m.Root = draw(t, rapid.SampledFrom([]string{DefaultRoot, "/srv/a b"}))
	m.Entries = drawEntries(t, 1)
	m.Environment = drawEnvironment(t)
	m.Secrets = map[string]Secret{"s": {Env: "S"}, "f": {File: "/run/s"}}
	m.Labels = draw(t, rapid.MapOfN(rapid.StringN(1, 5, -1), anyText, 0, 3))
	m.Init = optional(t, rapid.Bool())
	m.Users = []User{{Name: "agent", UID: optional(t, rapid.IntRange(0, 70000)), Groups: []string{"dev"}}}
	m.Groups = []Group{{Name: "dev", Users: []string{"agent"}}}
	m.RunAs = draw(t, rapid.SampledFrom([]string{"", "agent", "1000", "1:2"}))
	m.RemoteMountCommandAllowlist = draw(t, rapid.SampledFrom([][]string{DefaultMountCommands(), {}, {"ls"}}))
	m.Ports = []Port{{Port: draw(t, rapid.IntRange(1, 65535)), HostPort: draw(t, rapid.IntRange(0, 65535)), HostIP: "::", Protocol: "udp"}}
	m.ExtraPathGrants = []PathGrant{{Path: "/opt", HostPath: "/srv", ReadOnly: draw(t, rapid.Bool()), Description: draw(t, anyText)}}
	m.Command = draw(t, rapid.SampledFrom([]*Command{nil, {Image: true}, {Words: []string{"a", "$$", ""}}}))
	m.Resources = &Resources{
		CPUs: draw(t, rapid.Float64Range(0.001, 1e6)), Memory: Bytes(draw(t, rapid.Int64Range(1, 1<<60))),
		Ulimits: map[string]Ulimit{"nofile": {Soft: 1, Hard: -1}}, ExecTimeout: time.Duration(draw(t, rapid.Int64Range(1, 1<<60))),
	}
	m.Healthcheck = &Healthcheck{Test: append([]string{"CMD"}, draw(t, texts)...), Interval: time.Duration(draw(t, rapid.Int64Range(1e6, 1e12)))}
	m.IaC = &IaC{Provider: "tofu", WorkingDirectory: "x", Variables: draw(t, rapid.MapOfN(rapid.String(), anyText, 0, 2)), DestroyOnExit: draw(t, rapid.Bool()), Timeout: time.Minute}
	return m
}

func drawEnvironment(t *rapid.T) []EnvVar {
	value := strings.ReplaceAll(draw(t, anyText), "\x00", "")
	return []EnvVar{
		{Name: "A", Value: &value, Description: draw(t, anyText), Ephemeral: draw(t, rapid.Bool())},
		{Name: "B", Secret: "s", Ephemeral: draw(t, rapid.Bool())},
		{Name: "C", FromEnv: "X", Default: draw(t, rapid.SampledFrom([]*string{nil, &value}))},
		{Name: "value", Value: &value},
	}
}

// drawEntries makes one entry of each type, in any order.
func drawEntries(t *rapid.T, depth int) Entries {
	var entries Entries
	for i, v := range rapid.Permutation(entryTypes).Draw(t, "types") {
		e, _ := entryTypes.create(v.name)
		a := e.Attrs()
		a.Description = draw(t, anyText)
		a.Ephemeral = draw(t, rapid.Bool())
		a.Owner = draw(t, rapid.SampledFrom([]string{"", "agent"}))
		a.Mode = optional(t, rapid.Custom(func(t *rapid.T) fs.FileMode { return fs.FileMode(rapid.Uint32Range(0, 0o777).Draw(t, "mode")) }))
		fillEntry(t, e, depth)
		name := draw(t, rapid.StringMatching(`[a-z~ é$:#-]{1,6}`)) + string(rune('a'+i))
		entries = append(entries, KeyedEntry{Path: "pp" + name, Entry: e})
	}
	return entries
}

func fillEntry(t *rapid.T, e Entry, depth int) {
	credential := draw(t, rapid.SampledFrom([]*Credential{nil, {Value: "v${"}, {Secret: "s"}}))
	switch e := e.(type) {
	case *File:
		e.Content = []byte(draw(t, rapid.OneOf(anyText, rapid.SampledFrom([]string{"\xff\x00"}))))
	case *Dir:
		if depth > 0 {
			e.Children = drawEntries(t, depth-1)
		}
	case *LocalFile:
		e.Src = "x"
	case *LocalDir:
		e.Src = draw(t, rapid.SampledFrom([]string{"", "a b"}))
		e.IgnoreFile = draw(t, rapid.SampledFrom([]*IgnoreFile{nil, {".i", DialectGitignore}, {".i", DialectDockerignore}}))
		e.Symlinks = draw(t, rapid.SampledFrom([]SymlinkMode{SymlinksKeep, SymlinksFollow}))
	case *GitRepo:
		e.Repo = "a/b"
		e.Depth = draw(t, rapid.IntRange(0, 3))
		e.Credential = draw(t, rapid.SampledFrom([]*SecretRef{nil, {"s"}}))
	case *S3Mount:
		e.Bucket, e.ReadOnly, e.SessionToken = "b", draw(t, rapid.Bool()), credential
		e.Strategy = draw(t, rapid.SampledFrom([]MountStrategy{
			&DockerVolume{Driver: DriverRclone}, &DockerVolume{Driver: "x", DriverOptions: map[string]string{"a": "${"}},
			&InContainer{Pattern: &RclonePattern{Mode: "nfs", NFSMountOptions: "a,b"}}, &InContainer{Pattern: &MountpointPattern{Region: "r"}},
		}))
	case *GCSMount:
		e.Bucket, e.AccessToken = "b", credential
	case *R2Mount:
		e.Bucket, e.AccountID = "b", "i"
	case *AzureBlobMount:
		e.Account, e.Container, e.AccountKey = "a", "c", credential
	case *BoxMount:
		e.RootFolderID = draw(t, anyText)
	case *S3FilesMount:
		e.FileSystemID = "f"
		e.ExtraOptions = draw(t, rapid.SampledFrom([]map[string]*string{nil, {"ro": nil, "x": new(string)}}))
	case *VolumeMount:
		e.Tmpfs = draw(t, rapid.SampledFrom([]*Tmpfs{nil, {}, {Size: 1}}))
	}
}
