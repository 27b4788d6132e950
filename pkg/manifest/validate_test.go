package manifest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wantInvalid expects a document to be refused.
func wantInvalid(t *testing.T, doc string) {
	t.Helper()
	if _, _, err := Decode(strings.NewReader(doc), DecodeOptions{Format: FormatYAML}); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v, want the document refused:\n%s", err, doc)
	}
}

// TestValidateFields has one line of YAML per rule; no code means valid.
func TestValidateFields(t *testing.T) {
	tests := []struct{ doc, code, path string }{
		{`{}`, "", ""},
		{`name: my-ws_1.2`, "", ""},
		{`name: My`, CodeInvalidValue, "name"},
		{`name: -a`, CodeInvalidValue, "name"},
		{`name: abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-0123456789`, CodeInvalidValue, "name"},
		{`root: ""`, ReasonEmpty, "root"},
		{`base: scratch`, "", ""},
		{`base: "a b"`, CodeInvalidValue, "base"},
		{`base: --privileged`, CodeInvalidValue, "base"},
		{`root: /srv/w`, "", ""},
		{`root: /`, CodeInvalidValue, "root"},
		{`root: /a/`, CodeInvalidValue, "root"},
		{`root: /a/../b`, ReasonEscapeRoot, "root"},
		{`root: "/a\0"`, ReasonNUL, "root"},
		{`include: [""]`, ReasonEmpty, "include[0]"},

		{`remove: [/usr/share/doc]`, "", ""},
		{`remove: [/workspace/x]`, CodeConflict, "remove[0]"},
		{`remove: [/workspace]`, CodeConflict, "remove[0]"},
		{"root: /srv/w\nremove: [/srv]", CodeConflict, "remove[0]"},
		{`remove: [/]`, CodeInvalidValue, "remove[0]"},
		{`remove: [/a/../b]`, ReasonEscapeRoot, "remove[0]"},
		{`remove: [a]`, CodeInvalidValue, "remove[0]"},

		{`users: [{name: agent, uid: 1000, gid: 1000, home: /home/agent, shell: /bin/sh, groups: [dev, {name: ops}]}]`, "", ""},
		{`users: {}`, CodeWrongType, "users"},
		{`users: [a]`, CodeWrongType, "users[0]"},
		{`users: [{name: a, groups: b}]`, CodeWrongType, "users[0].groups"},
		{`users: [{name: a, uid: 0x3E8, gid: 0o17}]`, "", ""},
		{`users: [{uid: 1}]`, CodeMissing, "users[0].name"},
		{`users: [{name: a}, {name: a}]`, CodeDuplicate, "users[1].name"},
		{`users: [{name: "a:b"}]`, CodeInvalidValue, "users[0].name"},
		{`users: [{name: a, uid: -1}]`, CodeInvalidValue, "users[0].uid"},
		{`users: [{name: a, home: "/a:b"}]`, CodeInvalidValue, "users[0].home"},
		{`users: [{name: a, shell: sh}]`, CodeInvalidValue, "users[0].shell"},
		{`users: [{name: a, groups: [""]}]`, CodeInvalidValue, "users[0].groups[0]"},
		{`groups: [{name: a}, {name: a}]`, CodeDuplicate, "groups[1].name"},
		{`groups: [{name: a, users: [{}]}]`, CodeMissing, "groups[0].users[0]"},
		{`run_as: agent`, "", ""},
		{`run_as: 1000`, "", ""},
		{`run_as: 99999999999`, CodeInvalidValue, "run_as"},
		{`run_as: 1000:1000`, "", ""},
		{`run_as: agent:agent`, CodeInvalidValue, "run_as"},
		{`entries: {a: {type: dir, owner: "a b"}}`, CodeInvalidValue, `entries["a"].owner`},

		{`entries: {a: {type: dir, owner: {name: ""}}}`, CodeMissing, `entries["a"].owner`},
		{`environment: []`, CodeWrongType, "environment"},
		{`environment: {"": x}`, ReasonEmpty, `environment[""]`},
		{`environment: {A=B: x}`, CodeInvalidValue, `environment["A=B"]`},
		{`environment: {A: "x\0"}`, ReasonNUL, `environment["A"]`},
		{`environment: {A: {secret: s}}`, CodeUndeclaredSecret, `environment["A"]`},
		{`environment: {A: {secret: s, value: x}}`, CodeConflict, `environment["A"]`},
		{"secrets: {s: {env: S}}\nenvironment: {A: {secret: s}}", "", ""},
		{`secrets: {s: {}}`, CodeConflict, `secrets["s"]`},
		{`secrets: {s: {env: A, file: b}}`, CodeConflict, `secrets["s"]`},
		{`secrets: {"a b": {env: A}}`, CodeInvalidValue, `secrets["a b"]`},

		{`extra_path_grants: [{path: /opt, host_path: 'C:\x', read_only: true}]`, "", ""},
		{`extra_path_grants: [{}]`, CodeMissing, "extra_path_grants[0].path"},
		{`extra_path_grants: [{path: /}]`, CodeInvalidValue, "extra_path_grants[0].path"},
		{`extra_path_grants: [{path: /opt/../}]`, ReasonEscapeRoot, "extra_path_grants[0].path"},
		{`extra_path_grants: [{path: opt}]`, CodeInvalidValue, "extra_path_grants[0].path"},
		{`extra_path_grants: [{path: /a}, {path: /a}]`, CodeDuplicate, "extra_path_grants[1].path"},
		{`extra_path_grants: [{path: /workspace/a, host_path: /a}]`, CodeConflict, "extra_path_grants[0].path"},
		{`extra_path_grants: [{path: /a, host_path: a}]`, CodeInvalidValue, "extra_path_grants[0].host_path"},
		{`extra_path_grants: [{path: /a, host_path: '\\h\x'}]`, CodeInvalidValue, "extra_path_grants[0].host_path"},
		{`extra_path_grants: [{path: /a, host_path: /}]`, CodeInvalidValue, "extra_path_grants[0].host_path"},
		{`extra_path_grants: [{path: /a, host_path: /./}]`, CodeInvalidValue, "extra_path_grants[0].host_path"},
		{`extra_path_grants: [{path: /a, host_path: 'C:\'}]`, CodeInvalidValue, "extra_path_grants[0].host_path"},
		{`extra_path_grants: [{path: /a, host_path: /b/../c}]`, ReasonEscapeRoot, "extra_path_grants[0].host_path"},

		{`ports: [8080, "1:2", "127.0.0.1:1:3/udp", "[::1]::4", {port: 5, host_port: 6}]`, "", ""},
		{`ports: [true]`, CodeWrongType, "ports[0]"},
		{`ports: [{}]`, CodeInvalidValue, "ports[0]"},
		{`ports: [{port: 1, host_port: 65536}]`, CodeInvalidValue, "ports[0]"},
		{`ports: [{port: 1, host_ip: localhost}]`, CodeInvalidValue, "ports[0]"},
		{`ports: [0]`, CodeInvalidValue, "ports[0]"},
		{`ports: [65536]`, CodeInvalidValue, "ports[0]"},
		{`ports: ["a"]`, CodeInvalidValue, "ports[0]"},
		{`ports: ["1:2:3"]`, CodeInvalidValue, "ports[0]"},
		{`ports: ["80/icmp"]`, CodeInvalidValue, "ports[0]"},
		{`ports: [80, "81:80"]`, CodeDuplicate, "ports[1]"},
		{`ports: [80, "80/udp"]`, "", ""},
		{`network: none`, "", ""},
		{`network: "a b"`, CodeInvalidValue, "network"},
		{"network: none\nports: [80]", CodeConflict, "network"},
		{`network: host`, CodeInvalidValue, "network"},
		{`network: container:x`, CodeInvalidValue, "network"},

		{`resources: {cpus: 1.5, memory: 512m, pids: 100, shm_size: 64, ulimits: {nofile: 1024, core: {soft: 0, hard: -1}}, exec_timeout: 90s, session_timeout: 3600}`, "", ""},
		{`resources: {cpus: "0.5"}`, "", ""},
		{`resources: {cpus: 0}`, CodeInvalidValue, "resources.cpus"},
		{`resources: {cpus: -1}`, CodeInvalidValue, "resources.cpus"},
		{`resources: {cpus: .inf}`, CodeInvalidValue, "resources.cpus"},
		{`resources: {cpus: few}`, CodeWrongType, "resources.cpus"},
		{`resources: {memory: 1.5}`, CodeWrongType, "resources.memory"},
		{`resources: {exec_timeout: true}`, CodeWrongType, "resources.exec_timeout"},
		{`resources: {memory: 0}`, CodeInvalidValue, "resources.memory"},
		{`resources: {memory: much}`, CodeInvalidValue, "resources.memory"},
		{`resources: {pids: 99999999999999999999}`, CodeInvalidValue, "resources.pids"},
		{`resources: {exec_timeout: soon}`, CodeInvalidValue, "resources.exec_timeout"},
		{`resources: {exec_timeout: -1s}`, CodeInvalidValue, "resources.exec_timeout"},
		{`resources: {exec_timeout: 1e300}`, CodeInvalidValue, "resources.exec_timeout"},
		{`resources: {ulimits: {nofile: {soft: 2, hard: 1}}}`, CodeConflict, `resources.ulimits["nofile"]`},
		{`resources: {ulimits: {nofile: {soft: 2}}}`, CodeMissing, `resources.ulimits["nofile"].hard`},

		{`command: [sleep, "1"]`, "", ""},
		{`command: image`, "", ""},
		{`command: sleep 1`, CodeWrongType, "command"},
		{`command: []`, CodeInvalidValue, "command"},
		{`command: ["a\0"]`, ReasonNUL, "command[0]"},
		{`hostname: a.b-c`, "", ""},
		{`hostname: a_b`, CodeInvalidValue, "hostname"},
		{`devices: [/dev/fuse]`, "", ""},
		{`devices: [dev]`, CodeInvalidValue, "devices[0]"},
		{`runtime: "a b"`, CodeInvalidValue, "runtime"},
		{`labels: []`, CodeWrongType, "labels"},
		{`labels: {a: null}`, CodeWrongType, `labels["a"]`},
		{`labels: {"": x}`, ReasonEmpty, `labels[""]`},
		{`healthcheck: {test: curl localhost, interval: 30s, retries: 3}`, "", ""},
		{`healthcheck: {disable: true}`, "", ""},
		{`healthcheck: {test: [curl]}`, CodeInvalidValue, "healthcheck.test"},
		{`healthcheck: {interval: 1us}`, CodeInvalidValue, "healthcheck.interval"},
		{`iac: {provider: tofu, working_directory: infra, timeout: 60}`, "", ""},
		{`iac: {working_directory: infra}`, CodeMissing, "iac.provider"},
		{`iac: {provider: ansible, working_directory: infra}`, CodeInvalidValue, "iac.provider"},
		{`iac: {provider: tofu}`, CodeMissing, "iac.working_directory"},

		{`entries: {a: {type: file, permissions: null, is_dir: null}}`, "", ""},
		{`entries: {a: {type: file, is_dir: "no"}}`, CodeWrongType, `entries["a"].is_dir`},
		{`entries: {a: {type: file, mode: {}}}`, CodeWrongType, `entries["a"].mode`},
		{`entries: {a: {type: file, content_base64: "%"}}`, CodeInvalidValue, `entries["a"].content_base64`},
		{`entries: {a: {type: local_file, src: "a\0"}}`, ReasonNUL, `entries["a"].src`},
		{`entries: {a: {type: local_dir, src: s, symlinks: keep, follow_symlinks: true}}`, CodeConflict, `entries["a"].follow_symlinks`},
		{`entries: {a: {type: local_dir, symlinks: maybe}}`, CodeInvalidValue, `entries["a"].symlinks`},
		{`entries: {a: {type: local_dir, ignore_file: ../x}}`, ReasonEscapeRoot, `entries["a"].ignore_file`},
	}
	for _, tt := range tests {
		t.Run(tt.doc, func(t *testing.T) { wantOnly(t, tt.doc, tt.code, tt.path) })
	}
}

// wantOnly expects exactly one finding, or none.
func wantOnly(t *testing.T, doc, code, path string) {
	t.Helper()
	_, list, _ := Decode(strings.NewReader(doc+"\n"), DecodeOptions{Format: FormatYAML})
	var got, want []string
	for _, f := range list {
		got = append(got, f.Code+" "+f.Path)
		if f.Line == 0 || f.Column == 0 {
			t.Errorf("no position: %v", f)
		}
	}
	if code != "" {
		want = []string{code + " " + path}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s%v", diff, list)
	}
}

func TestValidateGit(t *testing.T) {
	tests := []struct{ fields, code, key string }{
		{`repo: a/b`, "", ""},
		{`repo: a/b/c, host: "git.example:8443", ref: feature/x, subpath: a/b, sparse: [docs], filter: "blob:none", depth: 5`, "", ""},
		{`repo: a/b, subpath: ""`, "", ""},
		{`repo: a/b, subpath: .`, "", ""},
		{`repo: a`, CodeInvalidValue, "repo"},
		{`repo: /b`, CodeInvalidValue, "repo"},
		{`repo: a/`, CodeInvalidValue, "repo"},
		{`repo: a/../b`, CodeInvalidValue, "repo"},
		{`repo: a/b c`, CodeInvalidValue, "repo"},
		{`repo: -a/b`, CodeInvalidValue, "repo"},
		{`repo: https://h/x`, CodeInvalidValue, "repo"},
		{`repo: a/b, host: https://h`, CodeInvalidValue, "host"},
		{`repo: a/b, host: h/x`, CodeInvalidValue, "host"},
		{`repo: a/b, host: "u:p@h"`, CodeInvalidValue, "host"},
		{`repo: a/b, host: ""`, ReasonEmpty, "host"},
		{`repo: a/b, host: -h`, CodeInvalidValue, "host"},
		{`repo: a/b, ref: --upload-pack=x`, CodeInvalidValue, "ref"},
		{`repo: a/b, ref: "a b"`, CodeInvalidValue, "ref"},
		{`repo: a/b, ref: "a:b"`, CodeInvalidValue, "ref"},
		{`repo: a/b, ref: "a\u0007"`, CodeInvalidValue, "ref"},
		{`repo: a/b, ref: ""`, ReasonEmpty, "ref"},
		{`repo: a/b, subpath: ../x`, ReasonEscapeRoot, "subpath"},
		{`repo: a/b, subpath: /x`, ReasonAbsolute, "subpath"},
		{`repo: a/b, subpath: "C:x"`, ReasonAbsolute, "subpath"},
		{`repo: a/b, subpath: "  "`, ReasonEmpty, "subpath"},
		{`repo: a/b, subpath: -x`, CodeInvalidValue, "subpath"},
		{`repo: a/b, sparse: [-x]`, CodeInvalidValue, "sparse[0]"},
		{`repo: a/b, filter: --x`, CodeInvalidValue, "filter"},
		{`repo: a/b, depth: 0`, CodeInvalidValue, "depth"},
		{`repo: a/b, depth: -1`, CodeInvalidValue, "depth"},
		{`repo: a/b, credential: {secret: s}`, CodeUndeclaredSecret, "credential.secret"},
		{`repo: a/b, credential: {}`, CodeMissing, "credential.secret"},
		{`repo: a/b, url: https://h/x`, CodeConflict, "url"},
		{`url: https://h/x.git`, "", ""},
		{`url: http://127.0.0.1:8080/x`, "", ""},
		{`url: file:///srv/x.git`, "", ""},
		{`url: ssh://git@h:22/x`, "", ""},
		{`url: git@h:group/x.git`, "", ""},
		{`url: https://u@h/x`, CodeInvalidValue, "url"},
		{`url: https://u:p@h/x`, CodeInvalidValue, "url"},
		{`url: ssh://u:p@h/x`, CodeInvalidValue, "url"},
		{`url: "u:p@h:x"`, CodeInvalidValue, "url"},
		{`url: "ext::sh"`, CodeInvalidValue, "url"},
		{`url: ext://x`, CodeInvalidValue, "url"},
		{`url: ssh://-oProxyCommand=x/y`, CodeInvalidValue, "url"},
		{`url: "-o:x"`, CodeInvalidValue, "url"},
		{`url: "h:-x"`, CodeInvalidValue, "url"},
		{`url: https:///x`, CodeInvalidValue, "url"},
		{`url: plain`, CodeInvalidValue, "url"},
	}
	for _, tt := range tests {
		t.Run(tt.fields, func(t *testing.T) {
			path := `entries["r"].` + tt.key
			wantOnly(t, "entries: {r: {type: git_repo, "+tt.fields+"}}", tt.code, path)
		})
	}
}

func TestGitErrorsHideCredentials(t *testing.T) {
	for _, url := range []string{"https://u:hunter2@h/x", "https://u:hunter2@h/x y", "ssh://u:hunter2@h/x", "u:hunter2@h:x", "https://u:hunter2@h:bad/x"} {
		_, _, err := Decode(strings.NewReader(`{"entries": {"r": {"type": "git_repo", "url": "`+url+`"}}}`), DecodeOptions{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error for %s is %v", url, err)
		}
	}
}

func TestValidateMounts(t *testing.T) {
	inContainer := func(pattern string) string { return "{type: in_container, pattern: {type: " + pattern + "}}" }
	driver := func(name string) string { return `{type: docker_volume, driver: "` + name + `"}` }
	stores := map[string]string{
		"s3": "type: s3_mount, bucket: b", "gcs": "type: gcs_mount, bucket: b", "r2": "type: r2_mount, bucket: b, account_id: a",
		"azure": "type: azure_blob_mount, account: a, container: c", "box": "type: box_mount", "s3files": "type: s3_files_mount, file_system_id: f",
	}
	works := map[string][]string{
		"s3": {"rclone", "mountpoint"}, "gcs": {"rclone", "mountpoint"}, "r2": {"rclone", "mountpoint"},
		"azure": {"rclone", "fuse"}, "box": {"rclone"}, "s3files": {"s3files"},
	}
	for store, fields := range stores {
		for _, pattern := range []string{"rclone", "mountpoint", "fuse", "s3files"} {
			t.Run(store+" with pattern "+pattern, func(t *testing.T) {
				code := CodeMountConfig
				for _, p := range works[store] {
					if p == pattern {
						code = ""
					}
				}
				wantOnly(t, "entries: {m: {"+fields+", mount_strategy: "+inContainer(pattern)+"}}", code, `entries["m"].mount_strategy.pattern.type`)
			})
		}
	}
	tests := []struct{ fields, code, key string }{
		{stores["s3"] + ", mount_strategy: " + driver("mountpoint"), "", ""},
		{stores["s3"] + ", mount_strategy: " + driver("of-a-plugin"), "", ""},
		{stores["box"] + ", mount_strategy: " + driver("mountpoint"), CodeMountConfig, "mount_strategy.driver"},
		{stores["s3files"] + ", mount_strategy: " + driver("rclone"), CodeMountConfig, "mount_strategy.driver"},
		{stores["s3"] + ", mount_strategy: " + driver(" \u200b"), CodeMountConfig, "mount_strategy.driver"},
		{stores["s3"] + ", mount_strategy: {type: in_container}", CodeMissing, "mount_strategy.pattern"},
		{stores["s3"] + ", mount_strategy: {type: docker_volume, pattern: {type: rclone}}", CodeUnknownKey, "mount_strategy.pattern"},
		{stores["s3"] + ", mount_strategy: {type: in_container, pattern: {type: rclone, mode: smb}}", CodeInvalidValue, "mount_strategy.pattern.mode"},
		{stores["s3"] + ", mount_strategy: {type: in_container, pattern: {type: mountpoint, options: {prefixx: p}}}", CodeUnknownKey, "mount_strategy.pattern.options.prefixx"},
		{stores["s3"] + ", mount_strategy: {type: in_container, pattern: {type: mountpoint, options: {region: a}, region: b}}", CodeConflict, "mount_strategy.pattern.options"},
		{"type: box_mount, folder_id: '1', root_folder_id: '2'", CodeConflict, "folder_id"},
		{"type: s3_mount", CodeMissing, "bucket"},
		{"type: r2_mount, bucket: b", CodeMissing, "account_id"},
		{"type: azure_blob_mount, account: a", CodeMissing, "container"},
		{"type: s3_files_mount", CodeMissing, "file_system_id"},
		{stores["s3"] + ", access_key_id: {secret: s}", CodeUndeclaredSecret, "access_key_id"},
		{"type: volume_mount, volume: data", "", ""},
		{"type: volume_mount, volume: /data", CodeInvalidValue, "volume"},
		{"type: volume_mount, tmpfs: true, volume: data", CodeConflict, "tmpfs"},
		{"type: volume_mount, tmpfs: false", CodeInvalidValue, "tmpfs"},
		{"type: volume_mount, subpath: ../x", ReasonEscapeRoot, "subpath"},
		{"type: volume_mount, mount_strategy: " + driver("rclone"), CodeUnknownKey, "mount_strategy"},
		{"type: volume_mount, driver_options: {type: none, o: bind, device: /srv}", CodeConflict, `driver_options["device"]`},
	}
	for _, tt := range tests {
		t.Run(tt.fields, func(t *testing.T) {
			wantOnly(t, "entries: {m: {"+tt.fields+"}}", tt.code, `entries["m"].`+tt.key)
		})
	}
}

func TestLocalVolumeOfAGrantedPath(t *testing.T) {
	for _, grant := range []string{"{path: /srv}", "{path: /data, host_path: /srv}"} {
		wantOnly(t, "extra_path_grants: ["+grant+"]\nentries: {m: {type: volume_mount, driver_options: {o: bind, device: /srv/x}}}", "", "")
	}
	wantOnly(t, "extra_path_grants: [{path: /srv}]\nentries: {m: {type: volume_mount, driver_options: {o: bind, device: /srv/../etc}}}",
		CodeConflict, `entries["m"].driver_options["device"]`)
}

func TestRootCountsInTheLengthOfAPath(t *testing.T) {
	p := strings.Repeat("abcdefg/", 511) + "abcd"
	wantOnly(t, "entries: {? "+p+" : {type: file}}", ReasonTooLong, `entries["`+p+`"]`)
}

func TestValidateInGo(t *testing.T) {
	mode := func() *Attributes { a := Attributes{}; m := fs.FileMode(0o4755); a.Mode = &m; return &a }()
	m := &Manifest{
		Name: "UPPER",
		Entries: Entries{
			{Path: "../x", Entry: &File{}},
			{Path: "f", Entry: &File{Attributes: *mode}},
			{Path: "f/g", Entry: &File{}},
			{Path: "./f", Entry: &Dir{}},
			{Path: "n"},
		},
		Environment: []EnvVar{{Name: "A"}},
		Ports:       []Port{{Port: 70000}},
	}
	err := m.Validate()
	var invalid *InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, ErrInvalid) {
		t.Fatalf("got %v, want an InvalidError", err)
	}
	want := []string{
		"0:0 invalid_value name", `0:0 escape_root entries["../x"]`, `0:0 invalid_value entries["f"].mode`, `0:0 missing entries["n"]`,
		`0:0 duplicate_path entries["./f"]`, `0:0 below_non_directory entries["f/g"]`,
		`0:0 conflict environment["A"]`, "0:0 invalid_value ports[0]",
	}
	if diff := cmp.Diff(want, summary(invalid.Findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if err := new(Manifest).Validate(); err != nil {
		t.Errorf("the zero manifest is invalid: %v", err)
	}
}
