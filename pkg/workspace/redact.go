package workspace

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// redacted stands where a secret's value was.
const redacted = "[redacted]"

// Shorter texts are not looked for: they would be found everywhere, and that
// tells more about them than it hides.
const (
	minRedacted = 4 // bytes of a secret
	minPart     = 8 // bytes of what is only a part of one
)

// redactor takes the values of secrets out of texts. It is safe for concurrent
// use, and its zero value knows no secret.
type redactor struct {
	mu    sync.RWMutex
	forms map[string]bool
}

// learn adds values, and the forms in which programs write them.
func (r *redactor) learn(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forms == nil {
		r.forms = map[string]bool{}
	}
	for _, v := range values {
		for form, least := range forms(v) {
			if len(form) >= least {
				r.forms[form] = true
			}
		}
	}
}

// forms are the texts that give a value away, each with its least length.
func forms(value string) map[string]int {
	out := map[string]int{}
	part := func(s string) {
		if _, ok := out[s]; !ok {
			out[s] = minPart
		}
	}
	// Whoever prints a value of several lines prints them one by one.
	for line := range strings.Lines(value) {
		part(strings.TrimSpace(line))
	}
	for shift := range 3 {
		part(inBase64(value, shift))
		part(strings.NewReplacer("+", "-", "/", "_").Replace(inBase64(value, shift)))
	}
	if quoted, err := json.Marshal(value); err == nil {
		out[unquoted(string(quoted))] = minRedacted
	}
	for _, whole := range []string{
		value, strings.TrimSpace(value), url.QueryEscape(value), url.PathEscape(value), unquoted(strconv.Quote(value)),
		base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		out[whole] = minRedacted
	}
	return out
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// inBase64 is what the base64 of any text has in it that holds value after a
// multiple of three bytes and shift more, such as that of "user:value".
func inBase64(value string, shift int) string {
	encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
	bits := (shift + len(value)) * 8
	return encoded[min((shift*8+5)/6, bits/6) : bits/6]
}

// text returns s without the values. What of them overlaps goes as one.
func (r *redactor) text(s string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	type span struct{ from, to int }
	var found []span
	for form := range r.forms {
		for from := 0; ; {
			i := strings.Index(s[from:], form)
			if i < 0 {
				break
			}
			found = append(found, span{from + i, from + i + len(form)})
			from += i + 1
		}
	}
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	end := 0
	for i, f := range found {
		if i == 0 || f.from > end {
			out.WriteString(s[end:f.from] + redacted)
		}
		end = max(end, f.to)
	}
	out.WriteString(s[end:])
	return out.String()
}

// error returns err with its text redacted; it still is what err is.
func (r *redactor) error(err error) error {
	if err == nil {
		return nil
	}
	if text := r.text(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// events returns a client whose events are redacted.
func (r *redactor) events(c *Client) *Client {
	if c.Events == nil {
		return c
	}
	guarded := *c
	guarded.Events = func(e Event) {
		e.Op, e.Text = r.text(e.Op), r.text(e.Text)
		c.Events(e)
	}
	return &guarded
}

// result redacts what a result quotes of others.
func (r *redactor) result(to *Result) {
	for i := range to.Warnings {
		to.Warnings[i] = r.text(to.Warnings[i])
	}
	for i := range to.Git {
		to.Git[i].URL, to.Git[i].Ref = r.text(to.Git[i].URL), r.text(to.Git[i].Ref)
	}
	to.Operations = slices.Clone(to.Operations)
	for i := range to.Operations {
		op := &to.Operations[i]
		op.Subject, op.Detail, op.Cause = r.text(op.Subject), r.text(op.Detail), r.text(op.Cause)
	}
}
