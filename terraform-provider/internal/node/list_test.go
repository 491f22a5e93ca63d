// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// protocol speaks to the provider as a CLI does that can `query`.
type protocol struct {
	*testing.T
	server tfprotov6.ProviderServer
	types  *tfprotov6.GetProviderSchemaResponse
}

func connect(t *testing.T, s *sleddtest.Sledd) *protocol {
	t.Helper()
	server, err := acctest.ProtoV6ProviderFactories["sled"]()
	if err != nil {
		t.Fatal(err)
	}
	p := &protocol{T: t, server: server}
	if p.types, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil ||
		len(p.types.Diagnostics) > 0 {
		t.Fatalf("%v %v", err, p.types.Diagnostics)
	}
	t.Setenv("SLED_TOKEN", s.Token)
	config := p.object(p.types.Provider.ValueType(),
		map[string]tftypes.Value{"server": tftypes.NewValue(tftypes.String, s.URL)})
	answer, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: &config})
	if err != nil || len(answer.Diagnostics) > 0 {
		t.Fatalf("%v %v", err, answer.Diagnostics)
	}
	return p
}

// object is a configuration with some attributes; the others are null.
func (p *protocol) object(of tftypes.Type, given map[string]tftypes.Value) tfprotov6.DynamicValue {
	p.Helper()
	all := map[string]tftypes.Value{}
	for name, kind := range of.(tftypes.Object).AttributeTypes { //nolint:forcetypeassert // schemas are objects
		all[name] = tftypes.NewValue(kind, nil)
	}
	for name, value := range given {
		all[name] = value
	}
	value, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, all))
	if err != nil {
		p.Fatal(err)
	}
	return value
}

func (p *protocol) decode(value *tfprotov6.DynamicValue, of tftypes.Type) map[string]tftypes.Value {
	p.Helper()
	decoded, err := value.Unmarshal(of)
	all := map[string]tftypes.Value{}
	if err == nil {
		err = decoded.As(&all)
	}
	if err != nil {
		p.Fatal(err)
	}
	return all
}

// query lists what a filter chooses.
func (p *protocol) query(limit int64, whole bool, filter map[string]tftypes.Value) []tfprotov6.ListResourceResult {
	p.Helper()
	config := p.object(p.types.ListResourceSchemas["sled_node"].ValueType(), filter)
	lister, ok := p.server.(tfprotov6.ListResourceServer)
	if !ok {
		p.Fatal("the provider lists nothing")
	}
	stream, err := lister.ListResource(p.Context(), &tfprotov6.ListResourceRequest{TypeName: "sled_node",
		Config: &config, Limit: limit, IncludeResource: whole})
	if err != nil {
		p.Fatal(err)
	}
	return slices.Collect(stream.Results)
}

func names(results []tfprotov6.ListResourceResult) string {
	all := make([]string, len(results))
	for i, result := range results {
		all[i] = result.DisplayName
	}
	return strings.Join(all, ", ")
}

func TestListFindsNodes(t *testing.T) {
	s := sleddtest.Start(t)
	s.Declare(1)
	s.Declare(2)
	s.Machine(9).Facts()
	p := connect(t, s)
	const n1, n2, n9 = "node n1 (52:54:00:77:00:01)", "node n2 (52:54:00:77:00:02)", "node 52:54:00:77:00:09"
	yes := tftypes.NewValue(tftypes.Bool, true)
	rack := func(name string) tftypes.Value {
		return tftypes.NewValue(tftypes.Map{ElementType: tftypes.String},
			map[string]tftypes.Value{"rack": tftypes.NewValue(tftypes.String, name)})
	}
	for _, test := range []struct {
		limit  int64
		filter map[string]tftypes.Value
		want   string
	}{
		{100, nil, n1 + ", " + n2 + ", " + n9},
		{1, nil, n1},
		{100, map[string]tftypes.Value{"discovered": yes}, n9},
		{100, map[string]tftypes.Value{"labels": rack("a")}, n1 + ", " + n2},
		{100, map[string]tftypes.Value{"labels": rack("z")}, ""},
		{100, map[string]tftypes.Value{"phase": tftypes.NewValue(tftypes.String, "discovered")}, n9},
	} {
		if got := names(p.query(test.limit, false, test.filter)); got != test.want {
			t.Errorf("%v: got %q, want %q", test.filter, got, test.want)
		}
	}
}

func TestListGivesWhatImportNeeds(t *testing.T) {
	s := sleddtest.Start(t)
	s.Declare(1)
	p := connect(t, s)
	results := p.query(10, true, nil)
	if len(results) != 1 || len(results[0].Diagnostics) > 0 || results[0].Resource == nil ||
		results[0].Identity == nil {
		t.Fatalf("%+v", results)
	}
	identity := p.decode(results[0].Identity.IdentityData,
		tftypes.Object{AttributeTypes: map[string]tftypes.Type{"mac": tftypes.String}})
	if !identity["mac"].Equal(tftypes.NewValue(tftypes.String, first)) {
		t.Errorf("%v", identity)
	}
	found := p.decode(results[0].Resource, p.types.ResourceSchemas["sled_node"].ValueType())
	for name, want := range map[string]string{"mac": first, "name": "n1", "disk": "serial:LAB-0001"} {
		if !found[name].Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("%s: got %v, want %s", name, found[name], want)
		}
	}
	imported, err := p.server.ImportResourceState(t.Context(),
		&tfprotov6.ImportResourceStateRequest{TypeName: "sled_node", Identity: results[0].Identity})
	if err != nil || len(imported.Diagnostics) > 0 || len(imported.ImportedResources) != 1 {
		t.Errorf("%v %+v", err, imported)
	}
	if bare := p.query(10, false, nil); bare[0].Resource != nil {
		t.Errorf("not asked for: %+v", bare[0].Resource)
	}
}

func TestEveryPhaseIsAFilter(t *testing.T) {
	s := sleddtest.Start(t)
	p := connect(t, s)
	for _, phase := range api.Phases() {
		filter := map[string]tftypes.Value{"phase": tftypes.NewValue(tftypes.String, string(phase))}
		config := p.object(p.types.ListResourceSchemas["sled_node"].ValueType(), filter)
		lister := p.server.(tfprotov6.ListResourceServer) //nolint:forcetypeassert // p.query says so kindly
		answer, err := lister.ValidateListResourceConfig(t.Context(),
			&tfprotov6.ValidateListResourceConfigRequest{TypeName: "sled_node", Config: &config})
		if err != nil || len(answer.Diagnostics) > 0 {
			t.Errorf("%s: %v %+v", phase, err, answer)
		}
		if found := p.query(1, false, filter); len(found) > 0 {
			t.Errorf("%s: %+v", phase, found[0])
		}
	}
}

func TestListServerStopped(t *testing.T) {
	s := sleddtest.Start(t)
	p := connect(t, s)
	s.Stop()
	results := p.query(10, true, nil)
	if len(results) != 1 || len(results[0].Diagnostics) != 1 ||
		results[0].Diagnostics[0].Summary != "sledd is unreachable: could not list nodes" {
		t.Errorf("%+v", results)
	}
}
