package enginetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
)

// apiError is an answer other than success.
type apiError struct {
	status  int
	message string
}

func (e *apiError) Error() string { return e.message }

func fail(status int, format string, args ...any) error {
	return &apiError{status, fmt.Sprintf(format, args...)}
}

// rule is an injected failure, or with held set, a request that never answers.
type rule struct {
	method, pattern string
	status          int
	message         string
	once            bool
	held            chan struct{}
}

// Fail makes requests answer with status and message until undo is called. The
// pattern is one of [path.Match] for the path without version, such as
// /containers/*/start. Status 200 fails a load or pull within its stream.
func (e *Engine) Fail(method, pattern string, status int, message string) (undo func()) {
	return e.addRule(&rule{method: method, pattern: pattern, status: status, message: message})
}

// FailOnce is Fail for one request only; the next one finds the engine well.
func (e *Engine) FailOnce(method, pattern string, status int, message string) {
	e.addRule(&rule{method: method, pattern: pattern, status: status, message: message, once: true})
}

// Hold makes requests hang, their body read, until their client goes away, and
// announces each on the channel. undo lets later requests pass.
func (e *Engine) Hold(method, pattern string) (arrived <-chan struct{}, undo func()) {
	held := make(chan struct{}, 16)
	return held, e.addRule(&rule{method: method, pattern: pattern, held: held})
}

func (e *Engine) addRule(r *rule) (undo func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rules = append(e.rules, r)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.rules = slices.DeleteFunc(e.rules, func(other *rule) bool { return other == r })
	}
}

// Requests returns what was received so far, in the order of arrival.
func (e *Engine) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]Request, len(e.requests))
	for i, r := range e.requests {
		out[i] = *r
	}
	return out
}

// recorder notes how much of a body was read, and a JSON body itself.
type recorder struct {
	io.ReadCloser
	engine  *Engine
	request *Request
	keep    bool
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	r.request.BodySize += int64(n)
	if r.keep {
		r.request.Body = append(r.request.Body, p[:n]...)
	}
	return n, err
}

var versionPrefix = regexp.MustCompile(`^/v(\d+\.\d+)(/.*)$`)

// handler records every request, applies the rules and routes the rest.
func (e *Engine) handler() http.Handler {
	routes := e.routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		release, api := e.version()
		header := w.Header()
		header.Set("Api-Version", api)
		header.Set("Ostype", "linux")
		header.Set("Server", "Docker/"+release+" (linux)")
		if m := versionPrefix.FindStringSubmatch(r.URL.Path); m != nil {
			if versions.GreaterThan(m[1], api) {
				writeError(w, fail(http.StatusBadRequest, "client version %s is too new. Maximum supported API version is %s", m[1], api))
				return
			}
			r.URL.Path = m[2]
		}
		if rule := e.record(r); rule != nil {
			rule.answer(w, r)
			return
		}
		routes.ServeHTTP(w, r)
	})
}

func (e *Engine) record(r *http.Request) *rule {
	e.mu.Lock()
	defer e.mu.Unlock()
	request := &Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone()}
	e.requests = append(e.requests, request)
	r.Body = &recorder{ReadCloser: r.Body, engine: e, request: request, keep: r.Header.Get("Content-Type") == "application/json"}
	for i, rule := range e.rules {
		if ok, _ := path.Match(rule.pattern, r.URL.Path); ok && rule.method == r.Method {
			if rule.once {
				e.rules = slices.Delete(e.rules, i, i+1)
			}
			return rule
		}
	}
	return nil
}

func (rule *rule) answer(w http.ResponseWriter, r *http.Request) {
	// A server notices that its client is gone only once the body is read.
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case rule.held != nil:
		rule.held <- struct{}{}
		<-r.Context().Done()
	case rule.status == http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
		writeStreamError(w, errors.New(rule.message))
	default:
		writeError(w, &apiError{rule.status, rule.message})
	}
}

// routes maps the API's paths. Image names contain slashes, so that what
// follows them is told apart in the handler.
func (e *Engine) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/_ping":                       ping, // GET and HEAD
		"GET /info":                    e.info,
		"GET /images/json":             e.listImages,
		"GET /images/get":              e.saveImages,
		"GET /images/{ref...}":         e.inspectImage,
		"DELETE /images/{ref...}":      e.deleteImage,
		"POST /images/create":          e.pullImage,
		"POST /images/load":            e.loadImage,
		"GET /containers/json":         e.listContainers,
		"POST /containers/create":      e.createContainer,
		"GET /containers/{id}/json":    e.inspectContainer,
		"POST /containers/{id}/rename": e.renameContainer,
		"POST /containers/{id}/start":  e.startContainer,
		"POST /containers/{id}/stop":   e.stopContainer,
		"DELETE /containers/{id}":      e.deleteContainer,
		"GET /containers/{id}/archive": e.getArchive, // and HEAD
		"PUT /containers/{id}/archive": e.putArchive,
		"POST /containers/{id}/exec":   e.createExec,
		"POST /exec/{id}/start":        e.startExec,
		"POST /exec/{id}/resize":       e.resizeExec,
		"GET /exec/{id}/json":          e.inspectExec,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handle(w, r); err != nil {
				writeError(w, err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, fail(http.StatusNotFound, "page not found"))
	})
	return mux
}

func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if answer, ok := errors.AsType[*apiError](err); ok {
		status = answer.status
	}
	writeJSON(w, status, map[string]string{"message": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(value); err != nil {
		panic(fmt.Sprintf("enginetest: encode an answer: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the client may be gone
}

// writeStreamError reports a failure after the status was sent, as the engine
// does for loads and pulls.
func writeStreamError(w io.Writer, err error) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"errorDetail": map[string]string{"message": err.Error()},
		"error":       err.Error(),
	})
}

func ping(w http.ResponseWriter, _ *http.Request) error {
	_, err := io.WriteString(w, "OK")
	return err
}

func (e *Engine) info(w http.ResponseWriter, _ *http.Request) error {
	release, _ := e.version()
	info := system.Info{
		ServerVersion:   release,
		OSType:          "linux",
		Architecture:    "x86_64",
		OperatingSystem: "Fake Linux",
		Driver:          "overlay2",
		DriverStatus:    [][2]string{{"Backing Filesystem", "extfs"}},
	}
	if e.opts.Containerd {
		info.Driver = "overlayfs"
		info.DriverStatus = [][2]string{{"driver-type", "io.containerd.snapshotter.v1"}}
	}
	writeJSON(w, http.StatusOK, info)
	return nil
}
