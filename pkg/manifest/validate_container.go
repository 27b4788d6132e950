package manifest

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*$`)
	accountPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	idPattern      = regexp.MustCompile(`^[0-9]+(?::[0-9]+)?$`)
	// objectPattern is what an engine takes for names of volumes and networks.
	objectPattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	hostnamePattern = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// Lengths of names. They are not in the patterns, which would take long to
// compile then, at every start of the program.
const (
	maxName    = 63
	maxAccount = 32
)

// maxID is the largest user or group id.
const maxID = math.MaxInt32

func (v *validator) accounts() {
	users := map[string]bool{}
	for i, u := range v.manifest.Users {
		at := top("users").at(i)
		v.account(at, u.Name, users)
		v.id(at.field("uid"), u.UID)
		v.id(at.field("gid"), u.GID)
		v.accountPath(at.field("home"), u.Home)
		v.accountPath(at.field("shell"), u.Shell)
		v.accountNames(at.field("groups"), u.Groups)
	}
	groups := map[string]bool{}
	for i, g := range v.manifest.Groups {
		at := top("groups").at(i)
		v.account(at, g.Name, groups)
		v.id(at.field("gid"), g.GID)
		v.accountNames(at.field("users"), g.Users)
	}
	if as := v.manifest.RunAs; as != "" && !isAccount(as) && !isIDs(as) {
		v.invalid(top("run_as"), "%q is neither a user name nor uid[:gid]", as)
	}
}

// account checks the name of a declared user or group.
func (v *validator) account(at *docPath, name string, seen map[string]bool) {
	switch {
	case name == "":
		v.require(at, "name", name)
	case seen[name]:
		v.fail(at.field("name"), CodeDuplicate, fmt.Sprintf("%q is declared twice", name), "")
	default:
		v.accountName(at.field("name"), name)
	}
	seen[name] = true
}

func (v *validator) accountName(at *docPath, name string) {
	if !isAccount(name) {
		v.invalid(at, "%q is not a name of a user or group: up to %d letters, digits, _, . and -, no digit first", name, maxAccount)
	}
}

func isAccount(s string) bool { return len(s) <= maxAccount && accountPattern.MatchString(s) }

// isIDs reports whether s is uid[:gid].
func isIDs(s string) bool {
	if !idPattern.MatchString(s) {
		return false
	}
	for id := range strings.SplitSeq(s, ":") {
		if n, err := strconv.ParseInt(id, 10, 64); err != nil || n > maxID {
			return false
		}
	}
	return true
}

func (v *validator) accountNames(at *docPath, names []string) {
	for i, name := range names {
		v.accountName(at.at(i), name)
	}
}

func (v *validator) id(at *docPath, id *int) {
	if id != nil && (*id < 0 || *id > maxID) {
		v.invalid(at, "%d is not from 0 to %d", *id, maxID)
	}
}

// accountPath checks a field of the account file, whose lines colons divide.
func (v *validator) accountPath(at *docPath, p string) {
	if p != "" && v.cleanAbsolute(at, p) && strings.ContainsAny(p, ":\n") {
		v.invalid(at, "%q has a colon or a line break", p)
	}
}

func (v *validator) environment() {
	seen := map[string]bool{}
	for _, e := range v.manifest.Environment {
		at := top("environment").key(e.Name)
		switch {
		case e.Name == "":
			v.fail(at, ReasonEmpty, "a variable has no name", "")
		case strings.ContainsAny(e.Name, "=\x00"):
			v.invalid(at, "the name of a variable has = or NUL")
		case seen[e.Name]:
			v.fail(at, CodeDuplicate, fmt.Sprintf("variable %s is set twice", e.Name), "")
		}
		seen[e.Name] = true
		v.environmentSource(at, e)
	}
}

func (v *validator) environmentSource(at *docPath, e EnvVar) {
	sources := 0
	for _, set := range []bool{e.Value != nil, e.Secret != "", e.FromEnv != ""} {
		if set {
			sources++
		}
	}
	switch {
	case sources != 1:
		v.fail(at, CodeConflict, fmt.Sprintf("variable %s needs one of a value, a secret and a variable of the caller", e.Name), "")
	case e.Secret != "":
		v.secretRef(at, e.Secret)
	case e.Value != nil && strings.ContainsRune(*e.Value, 0), e.Default != nil && strings.ContainsRune(*e.Default, 0):
		v.fail(at, ReasonNUL, fmt.Sprintf("the value of variable %s has a NUL byte", e.Name), "")
	}
}

func (v *validator) secrets() {
	for name, s := range sortedMap(v.manifest.Secrets) {
		at := top("secrets").key(name)
		if !objectPattern.MatchString(name) {
			v.invalid(at, "%q is not the name of a secret", name)
		}
		if (s.Env == "") == (s.File == "") {
			v.fail(at, CodeConflict, `a secret has either "env" or "file"`, "")
		}
	}
}

// secretRef checks the use of a secret.
func (v *validator) secretRef(at *docPath, name string) {
	if name == "" {
		v.fail(at, CodeMissing, "the name of the secret is missing", "")
		return
	}
	if _, ok := v.manifest.Secrets[name]; !ok {
		v.fail(at, CodeUndeclaredSecret, fmt.Sprintf("secret %q is not declared", name), "declare it in secrets")
	}
}

func (v *validator) grants() {
	seen := map[string]bool{}
	for i, g := range v.manifest.ExtraPathGrants {
		at := top("extra_path_grants").at(i)
		if g.Path == "" {
			v.require(at, "path", g.Path)
			continue
		}
		ok := v.cleanAbsolute(at.field("path"), g.Path)
		if seen[g.Path] {
			v.fail(at.field("path"), CodeDuplicate, fmt.Sprintf("path %q is granted twice", g.Path), "")
		}
		seen[g.Path] = true
		if g.HostPath == "" {
			continue
		}
		if ok && (within(g.Path, v.root()) || within(v.root(), g.Path)) {
			v.fail(at.field("path"), CodeConflict, fmt.Sprintf("path %q is bound to a host path and overlaps the root %q", g.Path, v.root()), "")
		}
		v.hostPath(at.field("host_path"), g.HostPath)
	}
}

// hostPath checks an absolute path of the caller's machine, which may be a
// drive path of Windows.
func (v *validator) hostPath(at *docPath, p string) {
	slashed := strings.ReplaceAll(p, `\`, "/")
	absolute := strings.HasPrefix(p, "/") || hasDrive(slashed) && strings.HasPrefix(slashed[2:], "/")
	switch {
	case !absolute || strings.HasPrefix(slashed, "//"):
		v.invalid(at, "host path %q is not absolute", p)
	case slices.Contains(strings.Split(slashed, "/"), ".."):
		v.fail(at, ReasonEscapeRoot, fmt.Sprintf("host path %q has a \"..\" component", p), "")
	case path.Clean(slashed) == "/", hasDrive(slashed) && path.Clean(slashed[2:]) == "/":
		v.invalid(at, "host path is the root of the file system")
	default:
		v.noNUL(at, p)
	}
}

func (v *validator) ports() {
	type key struct {
		port     int
		protocol string
	}
	seen := map[key]bool{}
	for i, p := range v.manifest.Ports {
		at := top("ports").at(i)
		protocol := cmp.Or(p.Protocol, "tcp")
		v.oneOf(at, protocol, "tcp", "udp", "sctp")
		if p.Port < 1 || p.Port > math.MaxUint16 {
			v.invalid(at, "port %d is not from 1 to 65535", p.Port)
		}
		if p.HostPort < 0 || p.HostPort > math.MaxUint16 {
			v.invalid(at, "host port %d is not from 1 to 65535", p.HostPort)
		}
		if _, err := netip.ParseAddr(p.HostIP); err != nil && p.HostIP != "" {
			v.invalid(at, "%q is not an IP address", p.HostIP)
		}
		if seen[key{p.Port, protocol}] {
			v.fail(at, CodeDuplicate, fmt.Sprintf("port %d/%s is exposed twice", p.Port, protocol), "")
		}
		seen[key{p.Port, protocol}] = true
	}
}

func (v *validator) container() {
	m := v.manifest
	switch {
	case m.Network == "host" || strings.HasPrefix(m.Network, "container:"):
		v.fail(top("network"), CodeInvalidValue, fmt.Sprintf("network %q is the caller's to choose", m.Network), "use --network")
	case m.Network == NetworkNone && len(m.Ports) > 0:
		v.fail(top("network"), CodeConflict, `ports need a network, but it is "none"`, "")
	case m.Network != "" && !objectPattern.MatchString(m.Network):
		v.invalid(top("network"), "%q is not the name of a network", m.Network)
	}
	if c := m.Command; c != nil {
		v.words(top("command"), c)
	}
	if m.Hostname != "" && (len(m.Hostname) > maxName || !hostnamePattern.MatchString(m.Hostname)) {
		v.invalid(top("hostname"), "%q is not a host name", m.Hostname)
	}
	for i, dev := range m.Devices {
		if !strings.HasPrefix(dev, "/") || hasBlank(dev) {
			v.invalid(top("devices").at(i), "%q is not the path of a device", dev)
		}
	}
	if m.Runtime != "" && !isWord(m.Runtime) {
		v.invalid(top("runtime"), "%q is not the name of a runtime", m.Runtime)
	}
	if _, ok := m.Labels[""]; ok {
		v.fail(top("labels").key(""), ReasonEmpty, "a label has no name", "")
	}
}

func (v *validator) words(at *docPath, c *Command) {
	if c.Image == (len(c.Words) > 0) {
		v.fail(at, CodeInvalidValue, "is neither a list of words nor the image's command", `write ["word", "word"], or image`)
	}
	for i, w := range c.Words {
		if strings.ContainsRune(w, 0) {
			v.fail(at.at(i), ReasonNUL, "a word has a NUL byte", "")
		}
	}
}

func (v *validator) resources() {
	r := v.manifest.Resources
	if r == nil {
		return
	}
	at := top("resources")
	if r.CPUs < 0 || math.IsInf(r.CPUs, 0) || math.IsNaN(r.CPUs) {
		v.invalid(at.field("cpus"), "%v is not above 0", r.CPUs)
	}
	v.notNegative(at.field("memory"), int64(r.Memory))
	v.notNegative(at.field("shm_size"), int64(r.ShmSize))
	v.notNegative(at.field("pids"), int64(r.Pids))
	v.notNegativeTime(at.field("exec_timeout"), r.ExecTimeout)
	v.notNegativeTime(at.field("session_timeout"), r.SessionTimeout)
	for name, u := range sortedMap(r.Ulimits) {
		if u.Soft < -1 || u.Hard < -1 || u.Hard >= 0 && (u.Soft > u.Hard || u.Soft < 0) {
			v.fail(at.field("ulimits").key(name), CodeConflict, fmt.Sprintf("soft %d and hard %d do not go together", u.Soft, u.Hard), "")
		}
	}
}

func (v *validator) notNegative(at *docPath, n int64) {
	if n < 0 {
		v.invalid(at, "%s is not above 0", strconv.FormatInt(n, 10))
	}
}

func (v *validator) notNegativeTime(at *docPath, d time.Duration) {
	if d < 0 {
		v.invalid(at, "%s is not above 0", d)
	}
}

func (v *validator) healthcheck() {
	h := v.manifest.Healthcheck
	if h == nil {
		return
	}
	at := top("healthcheck")
	if len(h.Test) > 0 {
		v.oneOf(at.field("test"), h.Test[0], "CMD", "CMD-SHELL", "NONE")
	}
	v.notNegative(at.field("retries"), int64(h.Retries))
	for name, d := range sortedMap(map[string]time.Duration{
		"interval": h.Interval, "timeout": h.Timeout, "start_period": h.StartPeriod, "start_interval": h.StartInterval,
	}) {
		if d != 0 && d < time.Millisecond {
			v.invalid(at.field(name), "%s is shorter than a millisecond, which no engine takes", d)
		}
	}
}

func (v *validator) iac() {
	i := v.manifest.IaC
	if i == nil {
		return
	}
	at := top("iac")
	if i.Provider == "" {
		v.require(at, "provider", i.Provider)
	} else {
		v.oneOf(at.field("provider"), i.Provider, "terraform", "tofu", "pulumi")
	}
	v.require(at, "working_directory", i.WorkingDirectory)
	v.notNegativeTime(at.field("timeout"), i.Timeout)
}
