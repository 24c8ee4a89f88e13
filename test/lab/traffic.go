// Package lab runs operators on a real API server and does to them what the world does: it counts and loses their requests,
// kills them between two writes, and lets their caches lag. It knows no machine.
package lab

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Request is one request to the API server that was answered.
type Request struct {
	// Method as in HTTP; Resource is its plural name; Subresource such as status.
	Method, Group, Resource, Subresource, Namespace, Name string
	// Code of the server's answer, although the caller may never have got it.
	Code int
	// Trial says that the request was a dry run: the server answered it and did nothing.
	Trial bool
}

// Writes says whether the request could change something. Renewals of leases do not count.
func (r Request) Writes() bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Resource != "leases" && !r.Trial
}

// Done says whether the server carried it out.
func (r Request) Done() bool { return r.Code >= 200 && r.Code < 300 }

func (r Request) String() string {
	text := strings.ToLower(r.Method) + " " + r.Resource
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	return text
}

// Traffic is every answered request of the operators of a suite. Safe for concurrent use.
type Traffic struct {
	mu       sync.Mutex
	requests []Request
}

func (t *Traffic) add(r Request) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = append(t.requests, r)
}

// Of the namespace so far, in order, those that the filters let through.
func (t *Traffic) Of(namespace string, keep ...func(Request) bool) []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Request
	for _, r := range t.requests {
		if r.Namespace == namespace && !slices.ContainsFunc(keep, func(f func(Request) bool) bool { return !f(r) }) {
			out = append(out, r)
		}
	}
	return out
}

// OnStatus keeps the requests to a status subresource of the named object.
func OnStatus(name string) func(Request) bool {
	return func(r Request) bool { return r.Subresource == "status" && r.Name == name }
}

// classify reads what a request is about from its method and path; what is created is named in the body.
func classify(request *http.Request) Request {
	r := classifyPath(request)
	r.Trial = request.URL.Query().Has("dryRun")
	if r.Name == "" && r.Method == http.MethodPost {
		r.Name = nameIn(request)
	}
	return r
}

func classifyPath(request *http.Request) Request {
	r := Request{Method: request.Method}
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.Group, parts = parts[1], parts[3:]
	default:
		r.Resource = request.URL.Path
		return r
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = strings.Join(parts[2:], "/")
	}
	return r
}

// Body of a request that is still to be sent, without using it up; none if it cannot be read twice.
func Body(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		return nil
	}
	return content
}

func nameIn(request *http.Request) string {
	var object struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if json.Unmarshal(Body(request), &object) != nil {
		return ""
	}
	return object.Metadata.Name
}
