// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// querier lists bindings as a CLI does that can `query`.
type querier struct {
	*testing.T
	tfprotov6.ListResourceServer
	types *tfprotov6.GetProviderSchemaResponse
}

// object is a value of a type; what is not given is null.
func (q querier) object(of tftypes.Type, given map[string]string) *tfprotov6.DynamicValue {
	q.Helper()
	all := map[string]tftypes.Value{}
	for name, kind := range of.(tftypes.Object).AttributeTypes { //nolint:forcetypeassert // schemas are objects
		all[name] = tftypes.NewValue(kind, nil)
		if text, found := given[name]; found {
			all[name] = tftypes.NewValue(kind, text)
		}
	}
	value, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, all))
	if err != nil {
		q.Fatal(err)
	}
	return &value
}

func query(t *testing.T, s *sleddtest.Sledd) querier {
	t.Helper()
	server, err := acctest.ProtoV6ProviderFactories["sled"]()
	if err != nil {
		t.Fatal(err)
	}
	lists, able := server.(tfprotov6.ListResourceServer)
	if !able {
		t.Fatal("the provider lists nothing")
	}
	q := querier{T: t, ListResourceServer: lists}
	if q.types, err = server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	access := q.object(q.types.Provider.ValueType(), map[string]string{"server": s.URL, "token": s.Token})
	answer, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: access})
	if err != nil || len(answer.Diagnostics) > 0 {
		t.Fatal(err, answer)
	}
	return q
}

func (q querier) list(limit int64, filter map[string]string) []tfprotov6.ListResourceResult {
	q.Helper()
	stream, err := q.ListResource(q.Context(), &tfprotov6.ListResourceRequest{TypeName: "sled_binding", Limit: limit,
		Config: q.object(q.types.ListResourceSchemas["sled_binding"].ValueType(), filter), IncludeResource: true})
	if err != nil {
		q.Fatal(err)
	}
	return slices.Collect(stream.Results)
}

// Bindings are found by owner and image, whoever declared them, with what an import needs, and without their secrets.
func TestListOfBindings(t *testing.T) {
	s := sleddtest.Start(t)
	for i := range 4 {
		s.Declare(i + 1)
	}
	s.Register("v1")
	s.Register("v2")
	s.Bind(api.BindingSpec{Node: "n1", Image: "v1", Owner: "ansible", UserData: "#!hush", AuthorizedKeys: []string{
		sshkeys.Alice + " a"}})
	s.Bind(api.BindingSpec{Node: "n2", Image: "v2", Owner: "ansible"})
	s.Bind(api.BindingSpec{Node: "n3", Capture: "golden"})
	q := query(t, s)
	const one, other = "n1 (52:54:00:77:00:01), bound to image v1", "n2 (52:54:00:77:00:02), bound to image v2"
	for _, c := range []struct {
		limit  int64
		filter map[string]string
		want   string
	}{
		{100, nil, one + ";" + other}, {1, nil, one}, {100, map[string]string{"image": "v2"}, other},
		{100, map[string]string{"owner": "ansible"}, one + ";" + other}, {100, map[string]string{"owner": "x"}, ""},
	} {
		var names []string
		for _, found := range q.list(c.limit, c.filter) {
			if len(found.Diagnostics) > 0 || found.Identity == nil {
				t.Fatalf("%+v", found.Diagnostics)
			}
			names = append(names, found.DisplayName)
		}
		if got := strings.Join(names, ";"); got != c.want {
			t.Errorf("%v: got %q, want %q", c.filter, got, c.want)
		}
	}
	state, err := q.list(1, nil)[0].Resource.Unmarshal(q.types.ResourceSchemas["sled_binding"].ValueType())
	if err != nil {
		t.Fatal(err)
	}
	text := state.String()
	for _, want := range []string{`"image":tftypes.String<"v1">`, `"drift":tftypes.String<"">`,
		`"on_drift":tftypes.String<"warn">`, sshkeys.Alice + " a", "hmac-sha256:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "hush") || !strings.Contains(text, s.Node(1).Binding.UserDataSHA256) {
		t.Errorf("it holds user data, or not the hash of it: %s", text)
	}
	s.Stop()
	if found := q.list(1, nil); len(found) != 1 || len(found[0].Diagnostics) != 1 || found[0].Diagnostics[0].Summary !=
		"sledd is unreachable: could not list the bound nodes" {
		t.Errorf("%+v", found)
	}
}
