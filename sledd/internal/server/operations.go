// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Embedded parameters are exported: huma sees no others.

// NodePath names a node.
type NodePath struct {
	Node string `path:"node" minLength:"1" maxLength:"64" pattern:"^[0-9A-Za-z][0-9A-Za-z:-]*$" doc:"MAC (with colons or hyphens) or name" example:"n1"`
}

// NamePath names an image.
type NamePath struct {
	Name string `path:"name" pattern:"^[a-z0-9][a-z0-9._-]{0,127}$" maxLength:"128" example:"debian-12-v1"`
}

// onePhase is a phase of those there are.
type onePhase string

// Schema makes what is no phase an error of the caller.
func (onePhase) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, phase := range api.Phases() {
		schema.Enum = append(schema.Enum, string(phase))
	}
	return schema
}

// Selection selects the nodes of a request.
type Selection struct {
	Labels    []string   `query:"label,explode" maxItems:"16" doc:"KEY=VALUE; all must be there"`
	Phases    []onePhase `query:"phase,explode" maxItems:"16" doc:"One of these phases"`
	Text      string     `query:"q" maxLength:"64" doc:"Part of the node's name, of one of its MACs or of its address"`
	Image     string     `query:"image" maxLength:"128" doc:"Bound image, or for an unbound node the one on its disk"`
	Owner     string     `query:"owner" maxLength:"128" doc:"Owner of the binding"`
	Overdue   bool       `query:"overdue" doc:"Only nodes that stand still longer than their phase allows"`
	Satisfied string     `query:"satisfied" enum:"true,false" doc:"Only bound nodes that have what their binding requests, or that do not"`
}

type nodeFilter struct {
	Paging
	Selection
}

func (n nodeFilter) filter() (fleet.Filter, error) {
	filter, err := n.Selection.filter()
	filter.Limit, filter.After = n.Limit, n.After
	return filter, err
}

// nodeList is a request for a page of nodes.
type nodeList struct {
	Selection
	Nodes []string `query:"node,explode" maxItems:"500" doc:"Only these nodes, each by a MAC or its name; names that match no node are ignored"`
	Limit int      `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Most items in the answer"`
	After string   `query:"after" maxLength:"512" doc:"next of the page before, of a list with the same sort"`
	Sort  string   `query:"sort" maxLength:"128" doc:"name, phase, image, since (of the phase), urgency (failed nodes first, then those with alarms or overdue, then those that do not have what is requested) or label:KEY; with - before it, the other way round. Equal ones, and a list without sort, are by MAC" example:"-since"`
}

func (n nodeList) filter() (fleet.Filter, error) {
	filter, err := n.Selection.filter()
	filter.Limit, filter.After, filter.Sort = n.Limit, n.After, n.Sort
	for i, name := range n.Nodes {
		if i == 0 {
			filter.Only = map[string]bool{}
		}
		if address, err := mac.Parse(name); err == nil {
			name = address
		}
		filter.Only[name] = true
	}
	return filter, err
}

func (n Selection) filter() (fleet.Filter, error) {
	filter := fleet.Filter{Text: n.Text, Image: n.Image, Owner: n.Owner, Satisfied: n.Satisfied, Overdue: n.Overdue,
		Labels: map[string]string{}}
	for _, phase := range n.Phases {
		filter.Phases = append(filter.Phases, api.Phase(phase))
	}
	for i, label := range n.Labels {
		name, value, found := strings.Cut(label, "=")
		if !found || name == "" {
			return filter, &refusal.Error{Kind: refusal.Invalid, Message: fmt.Sprintf("label %q: %v", label, errLabel),
				Details: []refusal.Detail{{Location: fmt.Sprintf("query.label[%d]", i), Message: errLabel.Error(), Value: label}}}
		}
		filter.Labels[name] = value
	}
	return filter, nil
}

func (o operations) nodes() {
	register(o, api.Read, operation("list-nodes", http.MethodGet, "/nodes", "List nodes, declared and discovered"),
		func(ctx context.Context, in *nodeList) (*answer[api.NodeList], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			list, err := o.Fleet.Nodes(ctx, filter)
			return &answer[api.NodeList]{list}, err
		})
	register(o, api.Read, operation("get-node", http.MethodGet, "/nodes/{node}", "Show a node with its facts"),
		func(ctx context.Context, in *NodePath) (*tagged[api.Node], error) {
			node, err := o.Fleet.Node(ctx, in.Node)
			return tag(node, node.Revision, err)
		})
	type put struct {
		NodePath
		Conditions
		DryRun
		Body api.NodeSpec
	}
	register(o, api.Operate, dry(operation("put-node", http.MethodPut, "/nodes/{node}",
		"Declare a node, or change its declaration")), func(ctx context.Context, in *put) (*tagged[api.Node], error) {
		node, err := o.fleet(in.Dry).PutNode(ctx, in.Node, in.Body, in.wanted())
		return tag(node, node.Revision, err)
	})
	type remove struct {
		NodePath
		Conditions
		DryRun
	}
	register(o, api.Operate, dry(operation("delete-node", http.MethodDelete, "/nodes/{node}",
		"Forget a node that is not bound")), func(ctx context.Context, in *remove) (*struct{}, error) {
		return nil, o.fleet(in.Dry).DeleteNode(ctx, in.Node, in.wanted())
	})
	o.nodeDisks()
	register(o, api.Read, operation("get-node-network", http.MethodGet, "/nodes/{node}/network",
		"Show the files that the declared network of a node is rendered to"),
		func(ctx context.Context, in *NodePath) (*answer[api.RenderedNetwork], error) {
			rendered, err := o.Fleet.Network(ctx, in.Node)
			return &answer[api.RenderedNetwork]{rendered}, err
		})
	o.replaceNode()
	o.rescues()
	o.admissions()
	o.consoles()
}

func (o operations) nodeDisks() {
	type question struct {
		NodePath
		Match string   `query:"match" maxLength:"512" doc:"Disk selector, or all. Default: that of the binding, else of the node" example:"smallest,transport:nvme"`
		Keep  []string `query:"keep,explode" maxItems:"16" doc:"Selectors of disks that are never written. Default: those of the node"`
	}
	register(o, api.Read, operation("get-node-disks", http.MethodGet, "/nodes/{node}/disks",
		"Show which disk of a node a selector means, and why not the others"),
		func(ctx context.Context, in *question) (*answer[api.NodeDisks], error) {
			disks, err := o.Fleet.Disks(ctx, in.Node, in.Match, in.Keep)
			return &answer[api.NodeDisks]{disks}, err
		})
	type forget struct {
		NodePath
		Disk string `query:"disk" required:"true" minLength:"1" maxLength:"512" doc:"Selector with serial:, wwn: or path:" example:"serial:S64GNE0R900001"`
	}
	register(o, api.Operate, operation("forget-node-disk", http.MethodDelete, "/nodes/{node}/disks",
		"Forget a disk that is missing in the newest boot, such as one that was exchanged"),
		func(ctx context.Context, in *forget) (*struct{}, error) {
			return nil, o.Fleet.ForgetDisk(ctx, in.Node, in.Disk)
		})
}

func (o operations) replaceNode() {
	type replace struct {
		NodePath
		Conditions
		DryRun
		Body api.ReplaceSpec
	}
	register(o, api.Operate, dry(operation("replace-node", http.MethodPost, "/nodes/{node}/replace",
		"Give a node another MAC; it keeps its name, binding and history")),
		func(ctx context.Context, in *replace) (*tagged[api.Node], error) {
			node, err := o.fleet(in.Dry).ReplaceNode(ctx, in.Node, in.Body, in.wanted())
			return tag(node, node.Revision, err)
		})
}

func (o operations) captured() {
	type captured struct {
		File string `path:"file" pattern:"^([0-9a-f]{2}-){6}[0-9]{1,19}-[0-9a-f]{32}\\.raw\\.zst$" maxLength:"80" doc:"Name of the file" example:"52-54-00-77-00-01-3-0c2f5c1e7a544c1f9a551f3a0b8f6f5e.raw.zst"`
	}
	read := operation("read-captured", http.MethodGet, "/captured/{file}", "Ask to read the file of a captured image")
	read.Description = "The web server in front of sledd serves the file if sledd's answer is 204."
	register(o, api.Operate, read, func(context.Context, *captured) (*struct{}, error) { return nil, nil })
}

func (o operations) images() {
	o.captured()
	register(o, api.Read, operation("list-images", http.MethodGet, "/images", "List images"),
		func(ctx context.Context, _ *struct{}) (*answer[api.ImageList], error) {
			list, err := o.Fleet.Images(ctx)
			return &answer[api.ImageList]{list}, err
		})
	register(o, api.Read, operation("get-image", http.MethodGet, "/images/{name}", "Show an image"),
		func(ctx context.Context, in *NamePath) (*tagged[api.Image], error) {
			image, err := o.Fleet.Image(ctx, in.Name)
			return tag(image, image.Revision, err)
		})
	type put struct {
		NamePath
		Conditions
		DryRun
		Body api.ImageSpec
	}
	register(o, api.Operate, dry(operation("put-image", http.MethodPut, "/images/{name}",
		"Register an image; afterwards only its URLs, labels and signature may change")),
		func(ctx context.Context, in *put) (*tagged[api.Image], error) {
			image, err := o.fleet(in.Dry).PutImage(ctx, in.Name, in.Body, in.wanted())
			return tag(image, image.Revision, err)
		})
	type remove struct {
		NamePath
		Conditions
		DryRun
	}
	register(o, api.Operate, dry(operation("delete-image", http.MethodDelete, "/images/{name}",
		"Remove an image that no node is bound to")), func(ctx context.Context, in *remove) (*struct{}, error) {
		return nil, o.fleet(in.Dry).DeleteImage(ctx, in.Name, in.wanted())
	})
	unsign := dry(operation("unsign-image", http.MethodDelete, "/images/{name}/signature",
		"Withdraw the signature of an image"))
	unsign.Description = "A captured image is private again. A signature that was made before is not registered again. " +
		"A signature in the file itself still counts for nodes."
	register(o, api.Operate, unsign, func(ctx context.Context, in *remove) (*tagged[api.Image], error) {
		image, err := o.fleet(in.Dry).UnsignImage(ctx, in.Name, in.wanted())
		return tag(image, image.Revision, err)
	})
}

// Reimage asks for a new generation.
type Reimage struct {
	Again bool `query:"reimage" doc:"Raise the generation even when nothing changed"`
}

// DryRun checks a request and stores nothing.
type DryRun struct {
	Dry bool `query:"dry_run" doc:"Check everything and answer as for a real request, but store nothing. Bindings in the answer have an outlook: which disk would be wiped, and why. Role read is enough, but for user data"`
}

// takesDryRun marks operations that have DryRun, in their metadata.
const takesDryRun = "dry_run"

// dry is an operation that has DryRun.
func dry(op huma.Operation) huma.Operation {
	op.Metadata = map[string]any{takesDryRun: true}
	return op
}

// fleet is that of a request, which may be a dry run.
func (o operations) fleet(dry bool) *fleet.Fleet {
	if dry {
		return o.Fleet.Dry()
	}
	return o.Fleet
}

// KeepUserData leaves user data as it is stored.
type KeepUserData struct {
	Keep bool `query:"keep_user_data" doc:"The user data stays as stored, which no request can read; the body has none"`
}

// TakeOver changes what is another owner's.
type TakeOver struct {
	Take bool `query:"take_over" doc:"Also when the binding belongs to another owner; then it belongs to the one given, or to nobody"`
}

func (o operations) bindings() {
	register(o, api.Read, operation("list-bindings", http.MethodGet, "/bindings", "List bindings"),
		func(ctx context.Context, in *nodeFilter) (*answer[api.BindingList], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			list, err := o.Fleet.Bindings(ctx, filter)
			return &answer[api.BindingList]{list}, err
		})
	register(o, api.Read, operation("get-binding", http.MethodGet, "/bindings/{node}", "Show a binding"),
		func(ctx context.Context, in *NodePath) (*tagged[api.Binding], error) {
			binding, err := o.Fleet.Binding(ctx, in.Node)
			return tag(binding, binding.Revision, err)
		})
	type put struct {
		NodePath
		Conditions
		Reimage
		TakeOver
		KeepUserData
		DryRun
		Generation int64 `query:"generation" minimum:"1" doc:"Only if the binding has this generation then"`
		Waiting    bool  `query:"waiting" doc:"Only while the node waits in the Sled system, where it acts on the binding at once"`
		Body       api.BindingSpec
	}
	register(o, api.Operate, dry(operation("put-binding", http.MethodPut, "/bindings/{node}",
		"Bind a node to an image, or to be wiped")), func(ctx context.Context, in *put) (*tagged[api.Binding], error) {
		if err := mayCompare(ctx, in.Body); err != nil {
			return nil, err
		}
		item := api.BulkBinding{BindingSpec: in.Body, Reimage: in.Again, IfGeneration: in.Generation, KeepUserData: in.Keep}
		binding, err := o.fleet(in.Dry).PutBinding(ctx, in.Node,
			fleet.Change{BulkBinding: item, Wanted: in.wanted(), TakeOver: in.Take, Waiting: in.Waiting})
		return tag(binding, binding.Revision, err)
	})
	type remove struct {
		NodePath
		Conditions
		TakeOver
		DryRun
		Owner string `query:"owner" maxLength:"128" doc:"Who takes it back: the owner that it belongs to"`
	}
	register(o, api.Operate, dry(operation("delete-binding", http.MethodDelete, "/bindings/{node}",
		"Take a binding back; the disk stays as it is")), func(ctx context.Context, in *remove) (*struct{}, error) {
		end := api.BulkBinding{BindingSpec: api.BindingSpec{Owner: in.Owner}}
		return nil, o.fleet(in.Dry).DeleteBinding(ctx, in.Node,
			fleet.Change{BulkBinding: end, Wanted: in.wanted(), TakeOver: in.Take})
	})
	o.bulk()
	o.reimage()
}
