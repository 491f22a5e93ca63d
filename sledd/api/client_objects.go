// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is the number of items that one list request returns: larger pages are not faster.
const pageSize = 2000

// Option makes a change conditional (sledd answers 412 if the condition fails), or modifies it.
type Option func(http.Header, url.Values)

// IfRevision requires that the stored revision is this one.
func IfRevision(revision int64) Option {
	return func(h http.Header, _ url.Values) { h.Set("If-Match", `"`+strconv.FormatInt(revision, 10)+`"`) }
}

// IfAbsent requires that the object does not exist.
func IfAbsent() Option { return func(h http.Header, _ url.Values) { h.Set("If-None-Match", "*") } }

// IfGeneration requires that the resulting binding has this generation.
func IfGeneration(generation int64) Option {
	return func(_ http.Header, q url.Values) { q.Set("generation", strconv.FormatInt(generation, 10)) }
}

// IfWaiting requires that the node waits in the Sled system, where it acts on the binding at once.
func IfWaiting() Option { return func(_ http.Header, q url.Values) { q.Set("waiting", "true") } }

// Reimage raises the generation of a binding even if nothing changed.
func Reimage() Option { return func(_ http.Header, q url.Values) { q.Set("reimage", "true") } }

// TakeOver changes a binding that has another owner.
func TakeOver() Option { return func(_ http.Header, q url.Values) { q.Set("take_over", "true") } }

// As deletes a binding of this owner.
func As(owner string) Option { return func(_ http.Header, q url.Values) { q.Set("owner", owner) } }

// DryRun checks and answers as for a real request, and stores nothing. Bindings in the answer have an outlook.
func DryRun() Option { return func(_ http.Header, q url.Values) { q.Set("dry_run", "true") } }

// KeepUserData leaves the user data of a binding as stored, which no request can read.
func KeepUserData() Option {
	return func(_ http.Header, q url.Values) { q.Set("keep_user_data", "true") }
}

// apply applies the options to r.
func (r request) apply(options []Option) request {
	r.header, r.query = http.Header{}, url.Values{}
	for _, option := range options {
		option(r.header, r.query)
	}
	return r
}

// Filter selects items of a list. Empty fields select everything.
type Filter struct {
	Labels []string // k=v; all must match
	Phases []Phase  // one of them
	Text   string   // a part of the name, a MAC or the address
	Image  string
	Owner  string // of the binding
	Drift  bool   // only nodes that do not have what their binding requests
	Limit  int    // items of one page; default 2000
	Sort   string // of nodes: one of SortKeys or label:KEY; with - before it, the other way round; empty: by MAC

	Overdue bool // only nodes that stand still longer than their phase allows
}

func (f Filter) query() url.Values {
	q := url.Values{}
	for _, label := range f.Labels {
		q.Add("label", label)
	}
	for _, phase := range f.Phases {
		q.Add("phase", string(phase))
	}
	if f.Text != "" {
		q.Set("q", f.Text)
	}
	if f.Image != "" {
		q.Set("image", f.Image)
	}
	if f.Owner != "" {
		q.Set("owner", f.Owner)
	}
	if f.Drift {
		q.Set("satisfied", "false")
	}
	if f.Overdue {
		q.Set("overdue", "true")
	}
	if f.Sort != "" {
		q.Set("sort", f.Sort)
	}
	q.Set("limit", strconv.Itoa(cmp.Or(f.Limit, pageSize)))
	return q
}

type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// list yields the items of all pages; an error ends it.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			var answer page[T]
			if err := c.call(ctx, request{method: http.MethodGet, path: path, query: query}, &answer); err != nil {
				yield(*new(T), err)
				return
			}
			if answer.Items == nil {
				yield(*new(T), fmt.Errorf("GET %s: the answer is no list", path))
				return
			}
			for _, item := range answer.Items {
				if !yield(item, nil) {
					return
				}
			}
			if answer.Next == "" {
				return
			}
			query.Set("after", answer.Next)
		}
	}
}

// Collect gathers a list, or returns its error and no items.
func Collect[T any](items iter.Seq2[T, error]) ([]T, error) {
	all := []T{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

// single sends a request for one named object.
func single[T any](ctx context.Context, c *Client, r request, collection, name string) (T, error) {
	var out T
	address, err := path(collection, name)
	if err != nil {
		return out, err
	}
	r.path = address
	err = c.call(ctx, r, &out)
	return out, err
}

func remove(ctx context.Context, c *Client, collection, name string, options []Option) error {
	address, err := path(collection, name)
	if err != nil {
		return err
	}
	return c.call(ctx, request{method: http.MethodDelete, path: address}.apply(options), nil)
}

// Nodes lists declared and discovered nodes.
func (c *Client) Nodes(ctx context.Context, filter Filter) iter.Seq2[Node, error] {
	return list[Node](ctx, c, "/v1/nodes", filter.query())
}

// Node reads one node, by MAC or name, with its facts.
func (c *Client) Node(ctx context.Context, node string) (Node, error) {
	return single[Node](ctx, c, request{method: http.MethodGet}, "nodes", node)
}

// PutNode creates or replaces the declaration of a node. It also accepts a discovered node.
func (c *Client) PutNode(ctx context.Context, spec NodeSpec, options ...Option) (Node, error) {
	return single[Node](ctx, c, request{method: http.MethodPut, body: spec}.apply(options), "nodes", spec.MAC)
}

// DeleteNode deletes a node. The machine is not touched.
func (c *Client) DeleteNode(ctx context.Context, node string, options ...Option) error {
	return remove(ctx, c, "nodes", node, options)
}

// Images lists registered images.
func (c *Client) Images(ctx context.Context) ([]Image, error) {
	return Collect(list[Image](ctx, c, "/v1/images", url.Values{}))
}

// Image reads one image.
func (c *Client) Image(ctx context.Context, name string) (Image, error) {
	return single[Image](ctx, c, request{method: http.MethodGet}, "images", name)
}

// PutImage registers an image. The same content again may change URLs, labels and
// signature; other content is a conflict.
func (c *Client) PutImage(ctx context.Context, spec ImageSpec, options ...Option) (Image, error) {
	return single[Image](ctx, c, request{method: http.MethodPut, body: spec}.apply(options), "images", spec.Name)
}

// DeleteImage deletes an image that no binding uses. The file stays.
func (c *Client) DeleteImage(ctx context.Context, name string, options ...Option) error {
	return remove(ctx, c, "images", name, options)
}

// UnsignImage withdraws the signature of an image.
func (c *Client) UnsignImage(ctx context.Context, name string, options ...Option) (Image, error) {
	var image Image
	address, err := path("images", name, "signature")
	if err == nil {
		err = c.call(ctx, request{method: http.MethodDelete, path: address}.apply(options), &image)
	}
	return image, err
}

// Bindings lists bindings; the filter's labels and phase are those of their nodes.
func (c *Client) Bindings(ctx context.Context, filter Filter) iter.Seq2[Binding, error] {
	return list[Binding](ctx, c, "/v1/bindings", filter.query())
}

// Binding reads the binding of a node, by MAC or name.
func (c *Client) Binding(ctx context.Context, node string) (Binding, error) {
	return single[Binding](ctx, c, request{method: http.MethodGet}, "bindings", node)
}

// PutBinding creates or replaces the binding of a node.
func (c *Client) PutBinding(ctx context.Context, spec BindingSpec, options ...Option) (Binding, error) {
	return single[Binding](ctx, c, request{method: http.MethodPut, body: spec}.apply(options), "bindings", spec.Node)
}

// DeleteBinding deletes the binding of a node. The machine is not touched.
func (c *Client) DeleteBinding(ctx context.Context, node string, options ...Option) error {
	return remove(ctx, c, "bindings", node, options)
}

// Bind creates, replaces or deletes the bindings of many nodes in one request. If an item is invalid, its condition
// fails, or a limit would be exceeded, the error names the nodes and nothing is changed.
func (c *Client) Bind(ctx context.Context, bindings BulkBindings, options ...Option) ([]Binding, error) {
	var answer BindingList
	r := request{method: http.MethodPost, path: "/v1/bindings", body: bindings}
	err := c.call(ctx, r.apply(options), &answer)
	return answer.Items, err
}

// First gathers at most the first items of a list, or returns its error and no items.
func First[T any](items iter.Seq2[T, error], most int) ([]T, error) {
	first := []T{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		if first = append(first, item); len(first) == most {
			break
		}
	}
	return first, nil
}
