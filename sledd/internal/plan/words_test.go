// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// notInPlans are the attributes that reach the node by other means.
var notInPlans = map[string]string{
	"Node": "is the binding's name", "AuthorizedKeys": "in the seed", "UserData": "in the seed",
	"Owner": "never leaves sledd", "Admission": "decides who gets the plan",
	"SeedChanges": "decides about the generation",
}

// notBuilt are the verbs that sledd never puts into a plan.
var notBuilt = []string{"poweroff"}

var digests = "sha256:" + strings.Repeat("0", 64)

// built is the plan of a binding to image i, with one field changed.
func built(t *testing.T, field string) Plan {
	t.Helper()
	spec := api.BindingSpec{Image: "i", Disk: "serial:A", Hostname: "n1", Boot: "kexec"}
	if value := reflect.ValueOf(&spec).Elem().FieldByName(field); field != "" {
		fieldType, _ := reflect.TypeFor[api.BindingSpec]().FieldByName(field)
		change(value, fieldType.Tag.Get("enum"))
	}
	image := &api.ImageSpec{Name: "i", Digest: digests, URLs: []string{"http://a/i"}}
	disks := []map[string]nodetext.Identifier{
		nodetexttest.Facts(map[string]string{"name": "vda", "serial": "A", "bytes": "1000", "transport": "virtio"}),
		nodetexttest.Facts(map[string]string{"name": "vdb", "serial": "B", "bytes": "1000", "transport": "virtio"})}
	p, err := Render(Request{Generation: 1, Binding: &api.Binding{BindingSpec: spec, Generation: 1}, Image: image,
		Node: api.NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1"}, Facts: &api.Facts{Disks: disks}, Receivers: 2,
		Site: Site{Upload: "http://a/upload", Sender: &Sender{place: "192.0.2.1:7001"}}})
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
	plain, err := Encode(built(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[api.BindingSpec]().Fields() {
		if notInPlans[field.Name] != "" {
			continue
		}
		if changed, err := Encode(built(t, field.Name)); err != nil || changed == plain {
			t.Errorf("%s changes nothing of a plan, %v", field.Name, err)
		}
	}
}

func TestEveryVerbIsBuilt(t *testing.T) {
	var data Plan
	data.layouts(api.NodeSpec{DataDisks: []api.DataDisk{{Name: "a"}}})
	plans := []Plan{{Steps: []operand.Line{{Word: "idle"}, {Word: "rescue"}}}, built(t, ""), data}
	for field := range reflect.TypeFor[api.BindingSpec]().Fields() {
		if notInPlans[field.Name] == "" {
			plans = append(plans, built(t, field.Name))
		}
	}
	found := slices.Clone(notBuilt)
	for _, p := range plans {
		found = append(found, strings.Fields(p.Verbs())...)
	}
	for verb := range verbs {
		if !slices.Contains(found, verb) {
			t.Errorf("no plan has the step %s", verb)
		}
	}
}

// A step is seen in phases and timelines by its table alone.
func TestVerbsNameKnownWords(t *testing.T) {
	for name, verb := range verbs {
		if verb.Phase != "" && !slices.Contains(api.Phases(), verb.Phase) ||
			verb.Stage != "" && !slices.Contains(api.Stages(), verb.Stage) {
			t.Errorf("%s: phase %q, stage %q", name, verb.Phase, verb.Stage)
		}
	}
}
