// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is how many items one list call asks for.
const pageSize = 500

// Condition makes a change depend on what is stored; sledd answers 412 when it does not hold.
type Condition func(http.Header)

// IfRevision lets the change happen only if the stored revision is still this one.
func IfRevision(revision int64) Condition {
	return func(h http.Header) { h.Set("If-Match", `"`+strconv.FormatInt(revision, 10)+`"`) }
}

// IfAbsent lets the change happen only if nothing is stored under that name.
func IfAbsent() Condition { return func(h http.Header) { h.Set("If-None-Match", "*") } }

func header(conditions []Condition) http.Header {
	h := http.Header{}
	for _, condition := range conditions {
		condition(h)
	}
	return h
}

// Filter selects items of a list. Empty fields select everything.
type Filter struct {
	Labels []string // k=v; all must hold
	Phase  Phase
	Image  string
}

func (f Filter) query() url.Values {
	q := url.Values{}
	for _, label := range f.Labels {
		q.Add("label", label)
	}
	if f.Phase != "" {
		q.Set("phase", string(f.Phase))
	}
	if f.Image != "" {
		q.Set("image", f.Image)
	}
	return q
}

type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// list yields the items of all pages; an error ends it.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query.Set("limit", strconv.Itoa(pageSize))
		for {
			var answer page[T]
			if err := c.call(ctx, request{method: http.MethodGet, path: path, query: query}, &answer); err != nil {
				yield(*new(T), err)
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

// single does one call on one named object.
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

func remove(ctx context.Context, c *Client, collection, name string, conditions []Condition) error {
	address, err := path(collection, name)
	if err != nil {
		return err
	}
	return c.call(ctx, request{method: http.MethodDelete, path: address, header: header(conditions)}, nil)
}

// Nodes lists declared and discovered nodes.
func (c *Client) Nodes(ctx context.Context, filter Filter) iter.Seq2[Node, error] {
	return list[Node](ctx, c, "/v1/nodes", filter.query())
}

// Node reads one node, by MAC or name, with its facts.
func (c *Client) Node(ctx context.Context, node string) (Node, error) {
	return single[Node](ctx, c, request{method: http.MethodGet}, "nodes", node)
}

// PutNode declares a node: makes it, or replaces its declaration. It also accepts a discovered one.
func (c *Client) PutNode(ctx context.Context, spec NodeSpec, conditions ...Condition) (Node, error) {
	return single[Node](ctx, c, request{method: http.MethodPut, body: spec, header: header(conditions)}, "nodes", spec.MAC)
}

// DeleteNode forgets a node. It does not touch the machine.
func (c *Client) DeleteNode(ctx context.Context, node string, conditions ...Condition) error {
	return remove(ctx, c, "nodes", node, conditions)
}

// Images lists registered images.
func (c *Client) Images(ctx context.Context) ([]Image, error) {
	var answer ImageList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/images"}, &answer)
	return answer.Items, err
}

// Image reads one image.
func (c *Client) Image(ctx context.Context, name string) (Image, error) {
	return single[Image](ctx, c, request{method: http.MethodGet}, "images", name)
}

// PutImage registers an image. The same content again changes nothing; another content is a conflict.
func (c *Client) PutImage(ctx context.Context, spec ImageSpec, conditions ...Condition) (Image, error) {
	return single[Image](ctx, c, request{method: http.MethodPut, body: spec, header: header(conditions)}, "images", spec.Name)
}

// DeleteImage forgets an image that no binding uses. The file stays where it is.
func (c *Client) DeleteImage(ctx context.Context, name string, conditions ...Condition) error {
	return remove(ctx, c, "images", name, conditions)
}

// Bindings lists bindings; the filter's labels and phase are those of their nodes.
func (c *Client) Bindings(ctx context.Context, filter Filter) iter.Seq2[Binding, error] {
	return list[Binding](ctx, c, "/v1/bindings", filter.query())
}

// Binding reads the binding of a node, by MAC or name.
func (c *Client) Binding(ctx context.Context, node string) (Binding, error) {
	return single[Binding](ctx, c, request{method: http.MethodGet}, "bindings", node)
}

// PutBinding wishes. With reimage the generation rises even when nothing changed.
func (c *Client) PutBinding(ctx context.Context, spec BindingSpec, reimage bool, conditions ...Condition) (Binding, error) {
	r := request{method: http.MethodPut, body: spec, header: header(conditions), query: reimageQuery(reimage)}
	return single[Binding](ctx, c, r, "bindings", spec.Node)
}

// DeleteBinding takes the wish away. It does not touch the machine.
func (c *Client) DeleteBinding(ctx context.Context, node string, conditions ...Condition) error {
	return remove(ctx, c, "bindings", node, conditions)
}

// Bind wishes for many nodes in one call.
func (c *Client) Bind(ctx context.Context, specs []BindingSpec, reimage bool) ([]Binding, error) {
	var answer BindingList
	r := request{method: http.MethodPost, path: "/v1/bindings", body: BulkBindings{Items: specs}, query: reimageQuery(reimage)}
	err := c.call(ctx, r, &answer)
	return answer.Items, err
}

func reimageQuery(reimage bool) url.Values {
	if !reimage {
		return nil
	}
	return url.Values{"reimage": {"true"}}
}
