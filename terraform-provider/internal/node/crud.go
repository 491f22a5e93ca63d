// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// revisionKey of the private state: the declaration as it was read or written last; 0 when there was none.
const revisionKey = "revision"

// keep stores the revision and the fleet that a state was read from.
func (n *node) keep(ctx context.Context, private site.Keeper, revision int64) diag.Diagnostics {
	diagnostics := private.SetKey(ctx, revisionKey, strconv.AppendInt(nil, revision, 10))
	diagnostics.Append(n.site.KeepFleet(ctx, private)...)
	return diagnostics
}

// macKey of the private state: the MAC that the last apply or import declared.
const macKey = "mac"

func keepMAC(ctx context.Context, private site.Keeper, address string) diag.Diagnostics {
	return private.SetKey(ctx, macKey, strconv.AppendQuote(nil, address))
}

// declaredMAC is what keepMAC stored; empty: nothing.
func declaredMAC(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) string {
	value, found := private.GetKey(ctx, macKey)
	diagnostics.Append(found...)
	address, _ := strconv.Unquote(string(value)) // written by keepMAC
	return address
}

// revisionOf is the declaration that the plan was made for; 0: there was none.
func (n *node) revisionOf(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) int64 {
	diagnostics.Append(n.site.SameFleet(ctx, private)...)
	value, found := private.GetKey(ctx, revisionKey)
	diagnostics.Append(found...)
	revision, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

func identify(ctx context.Context, identity *tfsdk.ResourceIdentity, address string) diag.Diagnostics {
	return identity.SetAttribute(ctx, path.Root("mac"), address)
}

func (n *node) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var m model
	if response.Diagnostics.Append(request.Plan.Get(ctx, &m)...); response.Diagnostics.HasError() {
		return
	}
	stored, diagnostics := n.put(ctx, &m, api.IfAbsent(), exists)
	if response.Diagnostics.Append(diagnostics...); diagnostics.HasError() {
		return
	}
	m.fill(ctx, stored.NodeSpec)
	response.Diagnostics.Append(response.State.Set(ctx, &m)...)
	response.Diagnostics.Append(identify(ctx, response.Identity, stored.MAC)...)
	response.Diagnostics.Append(n.keep(ctx, response.Private, stored.Revision)...)
	response.Diagnostics.Append(keepMAC(ctx, response.Private, stored.MAC)...)
}

// put declares the node. When the condition does not hold, otherwise returns the error, unless it is nil.
func (n *node) put(ctx context.Context, m *model, condition api.Option,
	otherwise func(*model) diag.Diagnostics) (api.Node, diag.Diagnostics) {
	var stored api.Node
	differs := false
	diagnostics := n.site.Call(ctx, "declare "+m.String(), func(ctx context.Context, client *api.Client) (err error) {
		stored, err = client.PutNode(ctx, m.spec(), condition)
		if otherwise != nil && api.StatusOf(err) == http.StatusPreconditionFailed {
			differs = true
			return nil
		}
		return about(stored, m.MAC.Address(), err)
	})
	if differs {
		return stored, otherwise(m)
	}
	return stored, diagnostics
}

func exists(m *model) diag.Diagnostics {
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("mac"), fmt.Sprintf("%s is already declared", m),
		fmt.Sprintf("Nothing was changed. To manage it here, import it:\n\n  terraform import sled_node.NAME %s",
			m.MAC.Address()))}
}

func (n *node) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	var m model
	response.Diagnostics.Append(request.State.Get(ctx, &m)...)
	// the framework wants it whatever comes
	response.Diagnostics.Append(identify(ctx, response.Identity, m.MAC.Address())...)
	if n.site == nil { // the provider is not configured yet
		return
	}
	n.site.HoldNode(m.MAC.Address())
	response.Diagnostics.Append(n.site.SameFleet(ctx, request.Private)...)
	if response.Diagnostics.HasError() {
		return
	}
	stored, found, diagnostics := read(ctx, n.site, m.MAC.Address(), m.String())
	if (!found || !stored.Declared) && !diagnostics.HasError() {
		var other api.Node
		var moved bool
		if other, moved, diagnostics = n.renamed(ctx, &m); moved {
			stored, found, m.MAC = other, true, mac.Of(other.MAC)
			response.Diagnostics.Append(identify(ctx, response.Identity, other.MAC)...)
		}
	}
	if response.Diagnostics.Append(diagnostics...); diagnostics.HasError() {
		return
	}
	if !found {
		response.State.RemoveResource(ctx)
		return
	}
	if stored.MAC != m.MAC.Address() {
		response.Diagnostics.AddAttributeError(path.Root("mac"), "The MAC belongs to another node",
			fmt.Sprintf("%s is that of a further interface of node %s (%s) now. Remove this resource from the state, or "+
				"the MAC from that node.", m.MAC.Address(), stored.Name, stored.MAC))
		return
	}
	// of a machine that is only discovered it holds the MAC alone, so that its declaration is planned
	m.fill(ctx, stored.NodeSpec)
	response.Diagnostics.Append(response.State.Set(ctx, &m)...)
	response.Diagnostics.Append(n.keep(ctx, response.Private, stored.Revision)...)
}

// read reads a node by MAC or name. Only sledd's own 404 means that it does not exist.
func read(ctx context.Context, s *site.Site, reference, what string) (stored api.Node, found bool,
	diagnostics diag.Diagnostics) {
	diagnostics = s.Call(ctx, "read "+what, func(ctx context.Context, client *api.Client) (err error) {
		if stored, err = client.Node(ctx, reference); api.IsNotFound(err) {
			return nil
		}
		err = about(stored, reference, err)
		found = err == nil
		return err
	})
	return stored, found, diagnostics
}

// about checks that an answer is about the requested node. An answer of another server must not become state.
func about(answer api.Node, reference string, err error) error {
	if address, bad := api.ParseMAC(reference); bad == nil {
		reference = address
	}
	if err == nil && answer.MAC != reference && answer.Name != reference && !slices.Contains(answer.MACs, reference) {
		return fmt.Errorf("requested node %s, the answer is about node %q (MAC %q): is this sledd?", reference,
			answer.Name, answer.MAC)
	}
	return err
}

func (n *node) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var m model
	response.Diagnostics.Append(request.Plan.Get(ctx, &m)...)
	var state model
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	condition := api.IfAbsent() // it was only discovered
	if revision := n.revisionOf(ctx, request.Private, &response.Diagnostics); revision != 0 {
		condition = api.IfRevision(revision)
		if m.MAC.Address() != state.MAC.Address() && !response.Diagnostics.HasError() {
			moved, diagnostics := n.exchange(ctx, state.MAC.Address(), &m, revision)
			response.Diagnostics.Append(diagnostics...)
			condition = api.IfRevision(moved.Revision)
		}
	}
	if response.Diagnostics.HasError() {
		return
	}
	stored, diagnostics := n.put(ctx, &m, condition, nil)
	if response.Diagnostics.Append(diagnostics...); diagnostics.HasError() {
		return
	}
	m.fill(ctx, stored.NodeSpec)
	response.Diagnostics.Append(response.State.Set(ctx, &m)...)
	response.Diagnostics.Append(identify(ctx, response.Identity, stored.MAC)...)
	response.Diagnostics.Append(n.keep(ctx, response.Private, stored.Revision)...)
	response.Diagnostics.Append(keepMAC(ctx, response.Private, stored.MAC)...)
}

// ImportState finds the node by MAC or by name; Read fills the rest.
func (n *node) ImportState(ctx context.Context, request resource.ImportStateRequest,
	response *resource.ImportStateResponse) {
	reference := request.ID
	if reference == "" {
		response.Diagnostics.Append(request.Identity.GetAttribute(ctx, path.Root("mac"), &reference)...)
	}
	stored, found, diagnostics := read(ctx, n.site, reference, "node "+reference)
	if response.Diagnostics.Append(diagnostics...); response.Diagnostics.HasError() {
		return
	}
	if !found {
		response.Diagnostics.AddError("Node "+reference+" does not exist",
			"It is not declared and never booted from this server. Use the MAC or the name of an existing node, or "+
				"declare it without import.")
		return
	}
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("mac"), stored.MAC)...)
	response.Diagnostics.Append(identify(ctx, response.Identity, stored.MAC)...)
}
