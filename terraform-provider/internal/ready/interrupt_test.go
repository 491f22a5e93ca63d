// SPDX-License-Identifier: Apache-2.0

package ready_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const unknown = tftypes.UnknownValue

// Ctrl-C reaches the provider as StopProvider.
func TestInterruptThroughTheProtocol(t *testing.T) {
	s := sleddtest.Start(t)
	t.Setenv("SLED_TOKEN", s.Token)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1"})
	proxy := acctest.NewProxy(t, s.URL)
	server, err := acctest.ProtoV6ProviderFactories["sled"]()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	access := object(t, schemas.Provider, map[string]any{"server": proxy.URL}, nil)
	configure := tfprotov6.ConfigureProviderRequest{Config: access}
	if answer, err := server.ConfigureProvider(t.Context(), &configure); err != nil || len(answer.Diagnostics) > 0 {
		t.Fatal(err, answer)
	}
	kind := schemas.ResourceSchemas["sled_ready"]
	nodes := map[string]tftypes.Value{"n1": tftypes.NewValue(tftypes.Number, 1)}
	config := map[string]any{"nodes": nodes, "require": "all", "fail_fast": true}
	planned := map[string]any{"ready": unknown, "failed": unknown, "pending": unknown}
	before, err := tfprotov6.NewDynamicValue(kind.ValueType(), tftypes.NewValue(kind.ValueType(), nil))
	if err != nil {
		t.Fatal(err)
	}
	request := tfprotov6.ApplyResourceChangeRequest{TypeName: "sled_ready", PriorState: &before,
		Config: object(t, kind, config, nil), PlannedState: object(t, kind, config, planned)}
	watching, answers := make(chan struct{}), make(chan *tfprotov6.ApplyResourceChangeResponse, 1)
	proxy.Before(http.MethodGet, "/v1/events", func() { close(watching) })
	go func() {
		answer, err := server.ApplyResourceChange(t.Context(), &request)
		if err != nil {
			t.Error(err)
		}
		answers <- answer
	}()
	<-watching
	if _, err := server.StopProvider(t.Context(), &tfprotov6.StopProviderRequest{}); err != nil {
		t.Fatal(err)
	}
	select {
	case answer := <-answers:
		if len(answer.Diagnostics) != 1 || answer.Diagnostics[0].Summary != "The wait was interrupted" ||
			!strings.Contains(answer.Diagnostics[0].Detail, "0 of 1 nodes are ready") {
			t.Errorf("%+v", answer.Diagnostics)
		}
	case <-time.After(patience.Limit):
		t.Fatal("it waits on")
	}
}

// object returns a value of a schema; later values go first, what is not named is null.
func object(t *testing.T, schema *tfprotov6.Schema, values, later map[string]any) *tfprotov6.DynamicValue {
	t.Helper()
	kind, ok := schema.ValueType().(tftypes.Object)
	if !ok {
		t.Fatal("no object")
	}
	all := map[string]tftypes.Value{}
	for name, of := range kind.AttributeTypes {
		value := values[name]
		if later[name] != nil {
			value = later[name]
		}
		all[name] = tftypes.NewValue(of, value)
	}
	out, err := tfprotov6.NewDynamicValue(kind, tftypes.NewValue(kind, all))
	if err != nil {
		t.Fatal(err)
	}
	return &out
}
