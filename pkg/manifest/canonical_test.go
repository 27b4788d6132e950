package manifest

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// TestDigestIgnoresOrder: whatever the order of the keys, but for those of
// entries, and whatever the syntax, the digest is the same.
func TestDigestIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawManifest(t)
		want, err := m.Digest()
		if err != nil {
			t.Fatal(err)
		}
		root, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		shuffle(t, root)
		for name, write := range map[string]func(*node) ([]byte, error){"w.json": writeJSON, "w.yaml": writeYAML} {
			doc, err := write(root)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := Decode(bytes.NewReader(doc), DecodeOptions{Filename: name})
			if err != nil {
				t.Fatalf("%v in\n%s", err, doc)
			}
			if d, err := got.Digest(); d != want || err != nil {
				t.Fatalf("digest %s, error %v, want %s of\n%s", d, err, want, doc)
			}
		}
	})
}

func shuffle(t *rapid.T, n *node) {
	if len(n.pairs) > 1 {
		n.pairs = rapid.Permutation(n.pairs).Draw(t, "order")
	}
	for _, p := range n.pairs {
		if p.key != "entries" && p.key != "children" {
			shuffle(t, p.value)
			continue
		}
		for _, e := range p.value.pairs {
			shuffle(t, e.value)
		}
	}
	for _, item := range n.items {
		shuffle(t, item)
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
			ignore := cmp.Options{cmpopts.IgnoreTypes(Position{}), cmpopts.EquateEmpty()}
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
