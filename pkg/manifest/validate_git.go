package manifest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// gitRepo refuses everything that git or ssh could take for an option, and
// everything that a document must not say, before anything runs.
func (v *validator) gitRepo(at *docPath, g *GitRepo) {
	switch {
	case g.URL != "" && (g.Repo != "" || g.Host != "" && g.Host != DefaultGitHost):
		v.fail(at.field("url"), CodeConflict, `"url" stands alone, without "host" and "repo"`, "")
	case g.URL != "":
		v.gitURL(at.field("url"), g.URL)
	case g.Repo == "":
		v.fail(at.field("repo"), CodeMissing, `"repo" is missing`, `write owner/name, or give "url"`)
	default:
		v.gitHost(at.field("host"), g.Host)
		v.gitName(at.field("repo"), g.Repo)
	}
	if v.gitWord(at.field("ref"), g.Ref) && (strings.ContainsAny(g.Ref, `~^:?*[\`) || strings.Contains(g.Ref, "..")) {
		v.invalid(at.field("ref"), "%q is not the name of a branch, tag or commit", g.Ref)
	}
	if at := at.field("subpath"); g.Subpath != "" && g.Subpath != "." && v.gitWord(at, g.Subpath) {
		if _, err := CleanPath(g.Subpath); err != nil {
			v.pathError(at, err)
		}
	}
	if g.Depth < 0 {
		v.invalid(at.field("depth"), "%d is below 0", g.Depth)
	}
	for i, p := range g.Sparse {
		at := at.field("sparse").at(i)
		if _, err := CleanPath(p); err != nil {
			v.pathError(at, err)
		}
		v.gitWord(at, p)
	}
	v.gitWord(at.field("filter"), g.Filter)
	if g.Credential != nil {
		v.secretRef(at.field("credential").field("secret"), g.Credential.Secret)
	}
}

// gitWord reports what could be an option or more than one argument. It does
// not show the text, which may hold a password.
func (v *validator) gitWord(at *docPath, s string) bool {
	switch {
	case strings.HasPrefix(s, "-"):
		v.invalid(at, "starts with \"-\", as options do")
	case s != "" && strings.TrimSpace(s) == "":
		v.fail(at, ReasonEmpty, "is blank", "leave the key out")
	case hasBlank(s):
		v.invalid(at, "has a blank or a control character")
	default:
		return true
	}
	return false
}

func (v *validator) gitHost(at *docPath, host string) {
	switch {
	case !v.gitWord(at, host):
	case strings.Contains(host, "@"):
		v.fail(at, CodeInvalidValue, "the host has user info", `name a secret in "credential"`)
	case strings.ContainsAny(host, `/\?#`):
		v.fail(at, CodeInvalidValue, fmt.Sprintf("%q is not the name of a host", host), `without scheme and path; or give "url"`)
	}
}

// gitName checks owner/name, or a longer path such as group/sub/name.
func (v *validator) gitName(at *docPath, repo string) {
	if !v.gitWord(at, repo) {
		return
	}
	segments := strings.Split(repo, "/")
	bad := func(s string) bool { return s == "" || s == "." || s == ".." || strings.ContainsAny(s, `\:?#@`) }
	if len(segments) < 2 || slices.ContainsFunc(segments, bad) {
		v.fail(at, CodeInvalidValue, fmt.Sprintf("%q is not owner/name", repo), `give other addresses in "url"`)
	}
}

var gitSchemes = []string{"https", "http", "ssh", "git", "file"}

// isSCPAddress reports whether s is [login@]host:path, as ssh users write it.
func isSCPAddress(s string) bool {
	host, repo, ok := strings.Cut(s, ":")
	login, rest, hasLogin := strings.Cut(host, "@")
	if hasLogin {
		host = rest
	} else {
		login = host
	}
	// A second colon could make it a transport that runs a program.
	return ok && objectPattern.MatchString(login) && objectPattern.MatchString(host) &&
		repo != "" && repo[0] != '-' && !strings.ContainsAny(repo, ":@")
}

// gitURL allows the transports of git that run no program of the document's
// choice. Credentials do not belong into a URL, but ssh needs a login name.
func (v *validator) gitURL(at *docPath, s string) {
	if !v.gitWord(at, s) {
		return
	}
	if !strings.Contains(s, "://") {
		if !isSCPAddress(s) {
			v.fail(at, CodeInvalidValue, "is not the URL of a repository", "write https://host/path or user@host:path")
		}
		return
	}
	u, err := url.Parse(s)
	if err != nil {
		v.fail(at, CodeInvalidValue, "is not a URL", "write https://host/path or user@host:path")
		return
	}
	_, password := u.User.Password()
	switch {
	case !slices.Contains(gitSchemes, u.Scheme):
		v.invalid(at, "scheme %q is not one of %s", u.Scheme, strings.Join(gitSchemes, ", "))
	case password, u.User != nil && u.Scheme != "ssh":
		v.fail(at, CodeInvalidValue, "the URL has user info", `name a secret in "credential"`)
	case u.Host == "" && u.Scheme != "file", strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User.Username(), "-"):
		v.invalid(at, "the URL has no valid host")
	}
}
