package workspace

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/docker-workspace/docker-workspace/pkg/engine"
	"github.com/docker-workspace/docker-workspace/pkg/plan"
)

func TestRedact(t *testing.T) {
	const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0B\n-----END KEY-----\n"
	b64 := base64.StdEncoding.EncodeToString
	tests := map[string]struct {
		secrets    []string
		text, want string
	}{
		"no secret":                {nil, "fatal: hunter22", "fatal: hunter22"},
		"as it is":                 {[]string{"hunter22"}, "a hunter22 b, hunter22.", "a [redacted] b, [redacted]."},
		"in a URL":                 {[]string{"p/w d+1"}, "https://u:p%2Fw+d%2B1@h/ https://u:p%2Fw%20d+1@h/", "https://u:[redacted]@h/ https://u:[redacted]@h/"},
		"quoted":                   {[]string{"say \"hi\"\t<now>"}, `"say \"hi\"\t<now>" "say \"hi\"\t\u003cnow\u003e"`, `"[redacted]" "[redacted]"`},
		"ends with a quote":        {[]string{`hunter"`}, `"hunter\""`, `"[redacted]"`},
		"in base64":                {[]string{"hunter22"}, b64([]byte("hunter22")), "[redacted]="},
		"in base64 of a URL":       {[]string{"\xff\xfe\xfd\xfc\xfb\xfa"}, "t=__79_Pv6", "t=[redacted]"},
		"a line of several":        {[]string{key}, "bad line MIIEvQIBADANBgkq", "bad line [redacted]"},
		"its lines joined":         {[]string{key}, "MIIEvQIBADANBgkq; hkiG9w0B; x", "[redacted]; [redacted]; x"},
		"the longer one":           {[]string{"hunter", "hunter22"}, "hunter22 hunter", "[redacted] [redacted]"},
		"two that overlap":         {[]string{"xabcd", "cdefg"}, "-xabcdefg-", "-[redacted]-"},
		"one that overlaps itself": {[]string{"abaaba"}, "abaabaaba", "[redacted]"},
		"with white space around":  {[]string{" hunter22\t"}, "got hunter22!", "got [redacted]!"},
		"too short to be told":     {[]string{"", "1", "abc"}, "abc 1", "abc 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var r redactor
			r.learn(tt.secrets...)
			if diff := cmp.Diff(tt.want, r.text(tt.text)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// Credentials of HTTP are base64 of a name and the secret: wherever the secret
// begins in it, none of its middle is left.
func TestRedactBasicAuth(t *testing.T) {
	const secret = "correct-horse-battery"
	var r redactor
	r.learn(secret)
	for _, name := range []string{"", "u", "us", "use", "x-access-token"} {
		header := base64.StdEncoding.EncodeToString([]byte(name + ":" + secret))
		got := r.text("Authorization: Basic " + header)
		if !strings.Contains(got, redacted) || strings.Contains(got, header[len(header)-12:len(header)-4]) {
			t.Errorf("user %q: %q", name, got)
		}
	}
}

func TestRedactLeavesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringMatching(`[ab"/ ]{4,9}`), 1, 3).Draw(t, "secrets")
		around := rapid.StringMatching(`[ab"/ ]{0,9}`)
		var r redactor
		r.learn(secrets...)
		text := around.Draw(t, "before") + strings.Join(secrets, around.Draw(t, "between")) + around.Draw(t, "after")
		got := r.text(text)
		for _, secret := range secrets {
			if strings.Contains(got, secret) {
				t.Fatalf("%q has %q in %q", text, secret, got)
			}
		}
	})
}

func TestRedactedErrorIsWhatItWas(t *testing.T) {
	var r redactor
	r.learn("hunter22")
	if _, wrapped := errors.AsType[*redactedError](r.error(errors.New("nothing to hide"))); wrapped {
		t.Error("an error with nothing to hide was replaced")
	}
	got := r.error(fmt.Errorf("create with hunter22: %w", engine.ErrConflict))
	if got.Error() != "create with [redacted]: conflict" || !errors.Is(got, engine.ErrConflict) {
		t.Errorf("got %v", got)
	}
	if got := r.error(nil); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestRedactedResultAndEvents(t *testing.T) {
	var r redactor
	r.learn("hunter22")
	operations := []plan.Operation{{Kind: plan.CloneGit, Subject: "hunter22", Detail: "hunter22", Cause: "hunter22"}}
	result := &Result{
		Warnings: []string{"hunter22"}, Operations: operations, Git: []GitResult{{URL: "https://h/hunter22", Ref: "hunter22"}},
	}
	r.result(result)
	if got := fmt.Sprintf("%+v", *result); strings.Contains(got, "hunter22") || operations[0].Subject != "hunter22" {
		t.Errorf("the result is %s, the plan's operations %v", got, operations)
	}
	var mu sync.Mutex
	var events []Event
	client := r.events(&Client{Events: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	_, _ = client.step("clone hunter22", func() error { return errors.New("fatal: hunter22") })
	want := []Event{{Op: "clone [redacted]", State: Started}, {Op: "clone [redacted]", State: Failed, Text: "fatal: [redacted]"}}
	for i := range events {
		events[i].Elapsed = 0
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
