// SPDX-License-Identifier: Apache-2.0

package action_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// provider is the configured provider, spoken to as Terraform 1.14 does, and a sledd with nodes n1 to n4; the first
// three are bound.
type provider struct {
	*testing.T
	*sleddtest.Sledd
	action  string // that is planned and invoked
	actions tfprotov6.ActionServer
	schemas *tfprotov6.GetProviderSchemaResponse
}

func start(t *testing.T, maxReimages any) *provider {
	t.Helper()
	server, err := acctest.ProtoV6ProviderFactories["sled"]()
	actions, able := server.(tfprotov6.ActionServer)
	if err != nil || !able {
		t.Fatal(err, "the provider has no actions")
	}
	p := &provider{T: t, Sledd: sleddtest.Start(t), actions: actions, action: "sled_reimage"}
	t.Setenv("SLED_TOKEN", p.Token)
	if p.schemas, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	config := p.object(p.schemas.Provider, map[string]any{"server": p.URL, "max_reimages": maxReimages})
	answer, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	if err != nil || len(answer.Diagnostics) > 0 {
		t.Fatal(err, texts(answer.Diagnostics))
	}
	p.Register("d12")
	for i := 1; i <= 4; i++ {
		p.Declare(i)
	}
	p.Bind(api.BindingSpec{Node: "n1", Image: "d12", UserData: "#cloud-config\n", Owner: "terraform"})
	p.Bind(api.BindingSpec{Node: "n2"})
	p.Bind(api.BindingSpec{Node: "n3", Capture: "golden"})
	return p
}

// object returns a configuration; what is not named is null.
func (p *provider) object(schema *tfprotov6.Schema, values map[string]any) *tfprotov6.DynamicValue {
	p.Helper()
	kind, ok := schema.ValueType().(tftypes.Object)
	if !ok {
		p.Fatal("no object")
	}
	all := map[string]tftypes.Value{}
	for name, of := range kind.AttributeTypes {
		value := values[name]
		if names, list := value.([]string); list {
			var elements []tftypes.Value
			for _, one := range names {
				elements = append(elements, tftypes.NewValue(tftypes.String, one))
			}
			value = elements
		}
		all[name] = tftypes.NewValue(of, value)
	}
	out, err := tfprotov6.NewDynamicValue(kind, tftypes.NewValue(kind, all))
	if err != nil {
		p.Fatal(err)
	}
	return &out
}

func (p *provider) config(values map[string]any) *tfprotov6.DynamicValue {
	return p.object(p.schemas.ActionSchemas[p.action].Schema, values)
}

// plan returns the diagnostics of validation and plan.
func (p *provider) plan(values map[string]any) []string {
	p.Helper()
	valid, err := p.actions.ValidateActionConfig(p.Context(),
		&tfprotov6.ValidateActionConfigRequest{ActionType: p.action, Config: p.config(values)})
	if err != nil {
		p.Fatal(err)
	}
	if len(valid.Diagnostics) > 0 {
		return texts(valid.Diagnostics)
	}
	planned, err := p.actions.PlanAction(p.Context(), &tfprotov6.PlanActionRequest{ActionType: p.action,
		Config: p.config(values)})
	if err != nil {
		p.Fatal(err)
	}
	return texts(planned.Diagnostics)
}

// invoke returns what was reported on the way, and the diagnostics.
func (p *provider) invoke(values map[string]any) (progress, diagnostics []string) {
	p.Helper()
	stream, err := p.actions.InvokeAction(p.Context(), &tfprotov6.InvokeActionRequest{ActionType: p.action,
		Config: p.config(values)})
	if err != nil {
		p.Fatal(err)
	}
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			diagnostics = texts(event.Diagnostics)
		}
	}
	return progress, diagnostics
}

func texts(diagnostics []*tfprotov6.Diagnostic) []string {
	var all []string
	for _, one := range diagnostics {
		all = append(all, fmt.Sprintf("%s: %s: %s", one.Severity, one.Summary, one.Detail))
	}
	return all
}

func (p *provider) wants(what string, got []string, parts ...string) {
	p.Helper()
	if len(got) != len(parts) {
		p.Errorf("%s: got %q, want %d texts", what, got, len(parts))
		return
	}
	for i, part := range parts {
		if !strings.Contains(got[i], part) {
			p.Errorf("%s: got %q, want %q in it", what, got[i], part)
		}
	}
}

func TestReimageOfOne(t *testing.T) {
	p := start(t, nil)
	before := *p.Node(1).Binding
	p.wants("plan", p.plan(map[string]any{"node": "n1"}), "WARNING: n1: disk serial:LAB-0001 is wiped and gets "+
		"image d12 (generation 1 -> 2)")
	if now := p.Node(1).Binding; now.Revision != before.Revision {
		t.Errorf("the plan changed it: %+v", now)
	}
	progress, diagnostics := p.invoke(map[string]any{"node": "n1"})
	p.wants("invoke", diagnostics)
	p.wants("progress", progress, "n1: disk serial:LAB-0001 is wiped and gets image d12 (generation 1 -> 2) at "+
		"its next boot")
	now := p.Node(1).Binding
	changes := api.Reimages(before.Effect(), now.Effect(), api.NodeSpec{})
	if now.Generation != 2 || now.Owner != "terraform" || len(changes) > 0 || now.UserDataSHA256 == "" {
		t.Errorf("before %+v\nafter %+v", before, now)
	}
}

func TestReimageOfSeveral(t *testing.T) {
	p := start(t, nil)
	all := map[string]any{"nodes": []string{"n1", "52-54-00-77-00-01", "n2", "n3", "n4", "n9"}}
	p.wants("plan", p.plan(map[string]any{"nodes": []string{"n2", "n3", "n4", "n9"}}),
		"n2: all disks are wiped (generation 1 -> 2)")
	progress, diagnostics := p.invoke(all)
	if len(progress) != 2 {
		t.Errorf("progress %q", progress)
	}
	said := strings.Join(diagnostics, "\n")
	for _, want := range []string{"ERROR: Node n3 cannot be imaged again: Its binding captures its disk as image " +
		"golden", "ERROR: Node n4 cannot be imaged again: It has no binding",
		"ERROR: Node n9 cannot be imaged again"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %q", want, said)
		}
	}
	for i, want := range map[int]int64{1: 2, 2: 2, 3: 1} {
		if now := p.Node(i).Binding.Generation; now != want {
			t.Errorf("n%d has generation %d, want %d", i, now, want)
		}
	}
}

func TestReimageCountsForTheLimit(t *testing.T) {
	p := start(t, 1)
	p.wants("one", p.plan(map[string]any{"node": "n1"}), "WARNING: n1")
	p.wants("two", p.plan(map[string]any{"node": "n2"}), "WARNING: n2",
		"ERROR: Too many machines would be imaged again: max_reimages of the provider is 1")
}

func TestReimageConfiguration(t *testing.T) {
	p := start(t, nil)
	p.wants("nothing", p.plan(map[string]any{}), "ERROR: Missing")
	p.wants("both", p.plan(map[string]any{"node": "n1", "nodes": []string{"n2"}}), "ERROR: Invalid")
	p.wants("empty", p.plan(map[string]any{"node": ""}), "ERROR: Invalid")
	p.wants("not known yet", p.plan(map[string]any{"node": tftypes.UnknownValue}))
	p.wants("none known yet", p.plan(map[string]any{"nodes": tftypes.UnknownValue}))
}

func TestReimageWithoutSledd(t *testing.T) {
	p := start(t, nil)
	p.Stop()
	progress, diagnostics := p.invoke(map[string]any{"nodes": []string{"n1", "n2"}})
	p.wants("progress", progress)
	p.wants("invoke", diagnostics, "ERROR: sledd is unreachable: could not read node n1",
		"ERROR: sledd is unreachable: could not read node n2")
	p.Resume()
	if now := p.Node(1).Binding.Generation; now != 1 {
		t.Errorf("generation %d", now)
	}
}
