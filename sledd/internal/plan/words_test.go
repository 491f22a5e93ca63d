// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// notInPlans are the attributes that reach the node by other means.
var notInPlans = map[string]string{
	"Node": "is the binding's name", "AuthorizedKeys": "in the seed", "UserData": "in the seed",
	"Owner": "never leaves sledd", "Admission": "decides who gets the plan",
	"SeedChanges": "decides about the generation",
}

// notBuilt are the verbs that sledd never puts into a plan: they are for plans that are written by hand.
var notBuilt = []string{"poweroff"}

// built is the plan of a binding to image i, with one field changed.
func built(t *testing.T, field string) plan.Plan {
	t.Helper()
	spec := api.BindingSpec{Image: "i", Disk: "serial:A", Hostname: "n1", Boot: "kexec"}
	if value := reflect.ValueOf(&spec).Elem().FieldByName(field); field != "" {
		fieldType, _ := reflect.TypeFor[api.BindingSpec]().FieldByName(field)
		change(value, fieldType.Tag.Get("enum"))
	}
	image := &api.ImageSpec{Name: "i", Digest: digest, URLs: []string{"http://a/i"}}
	disks := []map[string]nodetext.Identifier{
		nodetexttest.Facts(map[string]string{"name": "vda", "serial": "A", "bytes": "1000", "transport": "virtio"}),
		nodetexttest.Facts(map[string]string{"name": "vdb", "serial": "B", "bytes": "1000", "transport": "virtio"})}
	sender, err := plan.ParseSender("192.0.2.1:7001", "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Render(plan.Request{Generation: 1, Binding: &api.Binding{BindingSpec: spec, Generation: 1},
		Image: image, Node: api.NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1"}, Facts: &api.Facts{Disks: disks}, Receivers: 2,
		Site: plan.Site{Upload: "http://a/upload", Sender: sender}})
	if err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	return p
}

// change sets a field to another value: the first of its words that is neither the present value
// nor the default, else whatever fits.
func change(value reflect.Value, words string) {
	switch {
	case value.Kind() == reflect.Bool:
		value.SetBool(true)
	case words != "":
		for _, word := range strings.Split(words, ",") {
			if word != value.String() {
				value.SetString(word)
			}
		}
	case value.String() == "serial:A":
		value.SetString("serial:B")
	case value.String() == "i": // the image: none
		value.SetString("")
	default:
		value.SetString("only")
	}
}

func TestEveryAttributeReachesAPlan(t *testing.T) {
	plain, err := plan.Encode(built(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[api.BindingSpec]().Fields() {
		if notInPlans[field.Name] != "" {
			continue
		}
		if changed, err := plan.Encode(built(t, field.Name)); err != nil || changed == plain {
			t.Errorf("%s changes nothing of a plan, %v", field.Name, err)
		}
	}
}

// steps are those of the plan of a request.
func steps(t *testing.T, r plan.Request) []string {
	t.Helper()
	p, err := plan.Draft(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(p.Verbs())
}

// Every kind of detour is a field of Detour.
func stepsOfDetours(t *testing.T) (found []string) {
	t.Helper()
	for field := range reflect.TypeFor[detour.Detour]().Fields() {
		if field.Type.Kind() != reflect.Pointer {
			continue
		}
		var requested detour.Detour
		reflect.ValueOf(&requested).Elem().FieldByIndex(field.Index).Set(reflect.New(field.Type.Elem()))
		next, is := requested.Next(detour.Node{}, 0)
		if !is || len(next.Steps) != 1 {
			t.Fatalf("%s: %+v, want a plan of one step", field.Name, next)
		}
		found = append(found, next.Steps[0].Word)
	}
	return found
}

func TestEveryVerbIsBuilt(t *testing.T) {
	found := slices.Concat(notBuilt, stepsOfDetours(t), steps(t, plan.Request{}),
		steps(t, request(dataNode("serial:D1"), api.BindingSpec{Image: "d12"}, image())))
	for field := range reflect.TypeFor[api.BindingSpec]().Fields() {
		if notInPlans[field.Name] == "" {
			found = append(found, strings.Fields(built(t, field.Name).Verbs())...)
		}
	}
	for verb := range plan.Verbs {
		if !slices.Contains(found, verb) {
			t.Errorf("no plan has the step %s", verb)
		}
	}
}

// A step is seen in phases and timelines by its table alone.
func TestVerbsNameKnownWords(t *testing.T) {
	for name, verb := range plan.Verbs {
		if verb.Phase != "" && !slices.Contains(api.Phases(), verb.Phase) ||
			verb.Stage != "" && !slices.Contains(api.Stages(), verb.Stage) {
			t.Errorf("%s: phase %q, stage %q", name, verb.Phase, verb.Stage)
		}
	}
}
