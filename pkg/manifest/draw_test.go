package manifest

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestDrawReachesEveryField: the properties of drawn manifests are about every
// type and field that there is.
func TestDrawReachesEveryField(t *testing.T) {
	reached := map[string]bool{} // type.field → set to something
	manifests := rapid.Custom(drawManifest)
	for seed := range 50 {
		noteFields(reflect.ValueOf(manifests.Example(seed)), reached)
	}
	types := []string{"Manifest", "User", "Group", "PathGrant", "Port", "Resources", "Healthcheck", "IaC", "DockerVolume", "InContainer"}
	for _, v := range entryTypes {
		types = append(types, reflect.TypeOf(v.create()).Elem().Name())
	}
	for _, v := range patternTypes {
		types = append(types, reflect.TypeOf(v.create()).Elem().Name())
	}
	for _, name := range types {
		if !reached[name] {
			t.Errorf("no manifest has a %s", name)
		}
	}
	// One version is all there is, volumes have no strategy, and whoever loads
	// a manifest resolves its includes.
	fixed := []string{"Manifest.version", "Manifest.include", "VolumeMount.mount_strategy"}
	for field, ok := range reached {
		if !ok && !slices.Contains(fixed, field) {
			t.Errorf("%s has its default in every manifest", field)
		}
	}
}

// noteFields notes the fields of structs, and which differ from their default.
func noteFields(v reflect.Value, reached map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			noteFields(v.Elem(), reached)
		}
	case reflect.Slice:
		for i := range v.Len() {
			noteFields(v.Index(i), reached)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			noteFields(v.MapIndex(k), reached)
		}
	case reflect.Struct:
		defaults := reflect.New(v.Type())
		setDefaults(defaults.Interface())
		reached[v.Type().Name()] = true
		for _, f := range infoOf(v.Type()).fields {
			field, name := v.FieldByIndex(f.index), v.Type().Name()+"."+f.name
			reached[name] = reached[name] || !reflect.DeepEqual(field.Interface(), defaults.Elem().FieldByIndex(f.index).Interface())
			noteFields(field, reached)
		}
		if e, ok := reflect.TypeAssert[KeyedEntry](v); ok {
			noteFields(reflect.ValueOf(e.Entry), reached)
		}
	default:
	}
}

// anyText has what is hard to quote.
var anyText = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "~", "null", "yes", "010", "0o17", "1e3", ".5", "+.inf", "<<", "=", "- a", "a: b", "# c", " a ", "a\n", "\n a\n\n", "\ta\n b", "a\r\nb", "${V}", "$$", "$V", "\u0085", "\u2028x", "\uFEFF", "\x00\x7f"}),
)

func draw[T any](t *rapid.T, g *rapid.Generator[T]) T { return g.Draw(t, "v") }

// one draws one of the values.
func one[T any](t *rapid.T, values ...T) T { return rapid.SampledFrom(values).Draw(t, "v") }

func optional[T any](t *rapid.T, g *rapid.Generator[T]) *T {
	if !rapid.Bool().Draw(t, "set") {
		return nil
	}
	v := g.Draw(t, "v")
	return &v
}

var anyMode = rapid.Custom(func(t *rapid.T) fs.FileMode { return fs.FileMode(rapid.Uint32Range(0, 0o777).Draw(t, "mode")) })

func drawManifest(t *rapid.T) *Manifest {
	m := new(Manifest)
	m.setDefaults()
	m.Name = one(t, "", "ws", "0")
	m.Base = one(t, "", "scratch", "a.b:5/c@sha256:00")
	m.Root = one(t, DefaultRoot, "/srv/a b")
	m.Entries = drawEntries(t, 1)
	m.Environment = drawEnvironment(t)
	m.Secrets = map[string]Secret{"s": {Env: "S"}, "f": {File: "/run/s"}}
	m.RemoteMountCommandAllowlist = one(t, DefaultMountCommands(), []string{}, []string{"ls"})
	m.IaC = &IaC{
		Provider: "tofu", WorkingDirectory: "x", Variables: draw(t, rapid.MapOfN(rapid.String(), anyText, 0, 2)),
		OutputEnvMapping: one(t, nil, map[string]string{"out": "OUT"}), DestroyOnExit: draw(t, rapid.Bool()), Timeout: time.Duration(draw(t, rapid.Int64Range(1, 1<<60))),
	}
	m.Remove = one(t, nil, []string{"/usr/share/doc", "/opt/a b"})
	m.Labels = draw(t, rapid.MapOfN(rapid.StringN(1, 5, -1), anyText, 0, 3))
	drawAccounts(t, m)
	drawContainer(t, m)
	return m
}

func drawAccounts(t *rapid.T, m *Manifest) {
	id := rapid.IntRange(0, 70000)
	m.Users = []User{{
		Name: "agent", UID: optional(t, id), GID: optional(t, id), Home: one(t, "", "/home/a b"), Shell: one(t, "", "/bin/sh"), Groups: []string{"dev"},
	}}
	m.Groups = []Group{{Name: "dev", GID: optional(t, id), Users: []string{"agent"}}}
	m.RunAs = one(t, "", "agent", "1000", "1:2")
	m.ExtraPathGrants = []PathGrant{{Path: "/opt", HostPath: one(t, "", "/srv", `C:\srv`), ReadOnly: draw(t, rapid.Bool()), Description: draw(t, anyText)}}
}

func drawContainer(t *rapid.T, m *Manifest) {
	nanoseconds := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(draw(t, rapid.Int64Range(1e6, 1<<60))) })
	m.Network = one(t, "", "net")
	m.Ports = []Port{{Port: draw(t, rapid.IntRange(1, 65535)), HostPort: draw(t, rapid.IntRange(0, 65535)), HostIP: "::", Protocol: "udp"}}
	m.Command = one(t, nil, &Command{Image: true}, &Command{Words: []string{"a", "$$", ""}})
	m.Init = optional(t, rapid.Bool())
	m.Hostname = one(t, "", "a.b-c")
	m.Devices = one(t, nil, []string{"/dev/fuse"})
	m.Runtime = one(t, "", "runsc")
	m.Resources = &Resources{
		CPUs: draw(t, rapid.Float64Range(0.001, 1e6)), Memory: Bytes(draw(t, rapid.Int64Range(1, 1<<60))), ShmSize: Bytes(draw(t, rapid.Int64Range(0, 1<<60))),
		Pids: draw(t, rapid.IntRange(0, 1<<30)), Ulimits: map[string]Ulimit{"nofile": {Soft: 1, Hard: -1}},
		ExecTimeout: draw(t, nanoseconds), SessionTimeout: draw(t, nanoseconds),
	}
	m.Healthcheck = &Healthcheck{
		Test:     append([]string{"CMD"}, draw(t, rapid.SliceOfN(anyText, 0, 3))...),
		Interval: draw(t, nanoseconds), Timeout: draw(t, nanoseconds), StartPeriod: draw(t, nanoseconds), StartInterval: draw(t, nanoseconds),
		Retries: draw(t, rapid.IntRange(0, 100)),
	}
}

func drawEnvironment(t *rapid.T) []EnvVar {
	value := strings.ReplaceAll(draw(t, anyText), "\x00", "")
	return []EnvVar{
		{Name: "A", Value: &value, Description: draw(t, anyText), Ephemeral: draw(t, rapid.Bool())},
		{Name: "B", Secret: "s", Ephemeral: draw(t, rapid.Bool())},
		{Name: "C", FromEnv: "X", Default: one(t, nil, &value)},
		{Name: "value", Value: &value},
	}
}

// drawEntries makes one entry of each type, in any order.
func drawEntries(t *rapid.T, depth int) Entries {
	var entries Entries
	for i, v := range rapid.Permutation(entryTypes).Draw(t, "types") {
		e, _ := entryTypes.create(v.name)
		a := e.Attrs()
		a.Owner, a.Group = one(t, "", "agent"), one(t, "", "dev")
		a.Mode = optional(t, anyMode)
		name := draw(t, rapid.StringMatching(`[a-z~ é$:#-]{1,6}`)) + string(rune('a'+i))
		if mt, ok := e.(mounter); ok {
			mt.mount().MountPath = one(t, "", "at "+name)
			if depth == 0 { // where the one above it is not
				mt.mount().MountPath = ""
			}
		}
		drawEntry(t, e, depth)
		entries = append(entries, KeyedEntry{Path: "pp" + name, Entry: e})
	}
	return entries
}

func drawEntry(t *rapid.T, e Entry, depth int) {
	switch e := e.(type) {
	case *File:
		e.Content = []byte(draw(t, rapid.OneOf(anyText, rapid.Just("\xff\x00"))))
	case *Dir:
		if depth > 0 {
			e.Children = drawEntries(t, depth-1)
		}
	case *LocalFile:
		e.Src = "x"
	case *LocalDir:
		e.Src = one(t, "", "a b")
		e.IgnoreFile = one(t, nil, &IgnoreFile{".i", DialectGitignore}, &IgnoreFile{".i", DialectDockerignore})
		e.Symlinks = one(t, SymlinksKeep, SymlinksFollow, SymlinksReject)
	case *GitRepo:
		drawGitRepo(t, e)
	case *S3Mount:
		e.Bucket = "b"
		e.Strategy = one[MountStrategy](t, e.Strategy, &DockerVolume{Driver: "x", DriverOptions: map[string]string{"a": "${"}},
			drawPattern(t, PatternRclone), drawPattern(t, PatternMountpoint))
	case *GCSMount:
		e.Bucket = "b"
		e.Strategy = one(t, e.Strategy, drawPattern(t, PatternRclone), drawPattern(t, PatternMountpoint))
	case *R2Mount:
		e.Bucket, e.AccountID = "b", "i"
		e.Strategy = one(t, e.Strategy, drawPattern(t, PatternRclone), drawPattern(t, PatternMountpoint))
	case *BoxMount:
		e.Strategy = one(t, e.Strategy, drawPattern(t, PatternRclone))
	case *AzureBlobMount:
		e.Account, e.Container = "a", "c"
		e.Strategy = one(t, e.Strategy, drawPattern(t, PatternFuse), drawPattern(t, PatternRclone))
	case *S3FilesMount:
		e.FileSystemID = "f"
		e.Strategy = drawPattern(t, PatternS3Files)
	case *VolumeMount:
		e.Strategy = nil
		e.Tmpfs = one(t, nil, &Tmpfs{}, &Tmpfs{Size: 1, Mode: optional(t, anyMode)})
		if e.Tmpfs == nil {
			e.Volume, e.Subpath, e.NoCopy = one(t, "", "vol"), one(t, "", "a/b"), draw(t, rapid.Bool())
			e.DriverOptions = one(t, nil, map[string]string{"a": "${"})
		}
		e.Driver = one(t, DriverLocal, "x")
	}
	drawFields(t, reflect.ValueOf(e).Elem())
}

func drawGitRepo(t *rapid.T, e *GitRepo) {
	if draw(t, rapid.Bool()) {
		e.URL = "ssh://git@h/x"
	} else {
		e.Host, e.Repo = one(t, DefaultGitHost, "h"), "a/b"
	}
	e.Ref, e.Subpath, e.Filter = one(t, "", "v1"), one(t, "", "a/b"), one(t, "", "blob:none")
	e.Sparse = one(t, nil, []string{"x", "y/z"})
	e.Depth = draw(t, rapid.IntRange(0, 3))
	e.Credential = one(t, nil, &SecretRef{"s"})
}

func drawPattern(t *rapid.T, name string) MountStrategy {
	pattern, _ := patternTypes.create(name)
	drawFields(t, reflect.ValueOf(pattern).Elem())
	switch p := pattern.(type) {
	case *RclonePattern:
		p.Mode = one(t, "fuse", "nfs")
	case *FusePattern:
		p.CacheType = one(t, "block_cache", "file_cache")
		p.Container = one(t, "", "c")
	case *MountpointPattern:
		p.Bucket = one(t, "", "b")
	}
	return &InContainer{Pattern: pattern}
}

// ruled fields are not drawn by their type alone.
var ruled = []string{
	"owner", "group", "mode", "mount_path", "content", "children", "mount_strategy", "src", "ignore_file", "symlinks",
	"url", "host", "repo", "ref", "sparse", "depth", "filter", "credential", "volume", "driver", "driver_options", "tmpfs", "nocopy",
	"bucket", "account_id", "account", "container", "file_system_id", "cache_type",
}

// drawFields draws the fields that may have any value of their type.
func drawFields(t *rapid.T, v reflect.Value) {
	for _, f := range infoOf(v.Type()).fields {
		if slices.Contains(ruled, f.name) || f.name == "subpath" && v.Type() != reflect.TypeFor[S3FilesMount]() {
			continue
		}
		switch p := v.FieldByIndex(f.index).Addr().Interface().(type) {
		case *string:
			if text := draw(t, anyText); text != "" {
				*p = text
			}
		case *bool:
			*p = draw(t, rapid.Bool())
		case *int:
			*p = draw(t, rapid.IntRange(-9, 9))
		case **int:
			*p = optional(t, rapid.IntRange(-9, 9))
		case *[]string:
			*p = draw(t, rapid.SliceOfN(anyText, 0, 3))
		case *map[string]*string:
			*p = one(t, nil, map[string]*string{"ro": nil, "x": new("")})
		case **Credential:
			*p = one(t, nil, &Credential{Value: "v${"}, &Credential{Secret: "s"})
		}
	}
}
