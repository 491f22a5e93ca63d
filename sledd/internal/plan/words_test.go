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

// notInPlans are the attributes that reach the node by other means, or never.
var notInPlans = map[string]string{
	"BindingSpec.Node": "is the binding's name", "BindingSpec.AuthorizedKeys": "in the seed",
	"BindingSpec.UserData": "in the seed", "BindingSpec.Owner": "never leaves sledd",
	"BindingSpec.Partition": "needs an image of one (partition_test.go)",
	"BindingSpec.Handover":  "decides with the owner whether a generation hands over",
	"BindingSpec.Admission": "decides who gets the plan", "BindingSpec.SeedChanges": "decides about the generation",
	"NodeSpec.MAC": "finds the node", "NodeSpec.MACs": "find the node",
	"NodeSpec.Architecture": "chooses the Sled system", "NodeSpec.Flavour": "chooses the Sled system",
	"NodeSpec.Admission": "decides who gets the plan", "NodeSpec.BMC": "is for playbooks",
	"NodeSpec.Network": "in the seed",
	"NodeSpec.Labels":  "select nodes, and the relay", "ImageSpec.Labels": "select images",
	"ImageSpec.Bytes": "in the image", "ImageSpec.FileBytes": "in the image", "ImageSpec.UsedBytes": "in the image",
	"ImageSpec.Architecture": "decides which nodes may be bound", "ImageSpec.Container": "is for jobs",
	"ImageSpec.NFS": "is for jobs", "ImageSpec.Kernel": "decides which nodes may be bound to it",
}

// notBuilt are the verbs that sledd never puts into a plan: they are for plans that are written by hand.
var notBuilt = []string{"poweroff"}

// signed is the statement of image i.
func signed(date string) string { return "image 2 name=i line=i signed=" + date + " digest=" + digest }

// others are values that differ from those of built, where a word of the attribute or any text does not do.
var others = map[string]any{
	"BindingSpec.Image": "", "BindingSpec.Disk": "serial:B", "NodeSpec.Disk": "serial:B",
	"NodeSpec.KeepDisks": []string{"serial:B"}, "NodeSpec.DataDisks": []api.DataDisk{{Name: "d", Disk: "serial:B",
		Mount: "/srv/d"}},
	"ImageSpec.Kind": "root", "ImageSpec.Payload": &api.Payload{Format: "linux"},
	"ImageSpec.Digest": "sha256:" + strings.Repeat("1", 64), "ImageSpec.URLs": []string{"http://b/i"},
	"ImageSpec.Signature": strings.Repeat("B", 86) + "==", "ImageSpec.Statement": signed("2026-11-24T15:50:00Z"),
}

// built is the plan of a binding to image i, with one attribute changed, such as NodeSpec.Disk.
func built(t *testing.T, attribute string) plan.Plan {
	t.Helper()
	node := api.NodeSpec{MAC: "52:54:00:77:00:01", Name: "n1", Disk: "serial:A"}
	binding := api.BindingSpec{Image: "i", Boot: "kexec"}
	image := api.ImageSpec{Name: "i", Digest: digest, URLs: []string{"http://a/i"},
		Statement: signed("2026-11-23T15:50:00Z"), Signature: strings.Repeat("A", 86) + "=="}
	kind, name, _ := strings.Cut(attribute, ".")
	for _, spec := range []any{&node, &binding, &image} {
		if value := reflect.ValueOf(spec).Elem(); value.Type().Name() == kind {
			field, _ := value.Type().FieldByName(name)
			change(value.FieldByName(name), field.Tag.Get("enum"), others[attribute])
		}
	}
	disks := []map[string]nodetext.Identifier{
		nodetexttest.Facts(map[string]string{"name": "vda", "serial": "A", "bytes": "1000", "transport": "virtio"}),
		nodetexttest.Facts(map[string]string{"name": "vdb", "serial": "B", "bytes": "1000", "transport": "virtio"})}
	var kernel *api.ImageSpec
	if binding.Kernel != "" {
		kernel = &image
	}
	sender, err := plan.ParseSender("192.0.2.1:7001", "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Render(plan.Request{Generation: 1, Binding: &api.Binding{BindingSpec: binding, Generation: 1},
		Image: &image, Kernel: kernel, Node: node, Facts: &api.Facts{Disks: disks}, Receivers: 2,
		Site: plan.Site{Upload: "http://a/upload", Sender: sender}})
	if err != nil {
		t.Fatalf("%s: %v", attribute, err)
	}
	return p
}

// change sets a field to another value: the one that is given, the last of its words, or any text.
func change(value reflect.Value, words string, other any) {
	switch {
	case other != nil:
		value.Set(reflect.ValueOf(other))
	case value.Kind() == reflect.Bool:
		value.SetBool(true)
	case value.Kind() == reflect.Int64:
		value.SetInt(4096)
	case words != "":
		for _, word := range strings.Split(words, ",") {
			if word != value.String() {
				value.SetString(word)
			}
		}
	default:
		value.SetString("only")
	}
}

// inPlans are the attributes that change a plan.
func inPlans() []string {
	var all []string
	for _, spec := range []reflect.Type{reflect.TypeFor[api.BindingSpec](), reflect.TypeFor[api.NodeSpec](),
		reflect.TypeFor[api.ImageSpec]()} {
		for field := range spec.Fields() {
			if name := spec.Name() + "." + field.Name; notInPlans[name] == "" {
				all = append(all, name)
			}
		}
	}
	return all
}

func TestEveryAttributeReachesAPlan(t *testing.T) {
	plain, err := plan.Encode(built(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range inPlans() {
		if changed, err := plan.Encode(built(t, name)); err != nil || changed == plain {
			t.Errorf("%s changes nothing of a plan, %v", name, err)
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
		if requested.Job != nil {
			requested.Job.Source = &api.ImageSpec{}
			found = append(found, startOfDetours(t)...)
		}
		next, is := requested.Next(detour.Node{}, 0)
		if !is || len(next.Steps) == 0 {
			t.Fatalf("%s: %+v, want a plan", field.Name, next)
		}
		for _, step := range next.Steps {
			found = append(found, step.Word)
		}
	}
	return found
}

// startOfDetours are the steps of a job with a kernel before it runs on that.
func startOfDetours(t *testing.T) (found []string) {
	t.Helper()
	job := detour.Detour{Job: &detour.Job{Source: &api.ImageSpec{}, On: &api.ImageSpec{}}}
	next, _ := job.Next(detour.Node{}, 0)
	for _, step := range next.Steps {
		found = append(found, step.Word)
	}
	return found
}

func TestEveryVerbIsBuilt(t *testing.T) {
	found := slices.Concat(notBuilt, stepsOfDetours(t), steps(t, plan.Request{}))
	for _, name := range inPlans() {
		found = append(found, strings.Fields(built(t, name).Verbs())...)
	}
	for _, verb := range plan.Verbs() {
		if !slices.Contains(found, verb) {
			t.Errorf("no plan has the step %s", verb)
		}
	}
}

// A step is seen in phases and timelines by its table alone.
func TestVerbsNameKnownWords(t *testing.T) {
	for _, name := range plan.Verbs() {
		verb, _ := plan.VerbOf(name)
		if verb.Phase != "" && !slices.Contains(api.Phases(), verb.Phase) ||
			verb.Stage != "" && !slices.Contains(api.Stages(), verb.Stage) {
			t.Errorf("%s: phase %q, stage %q", name, verb.Phase, verb.Stage)
		}
	}
}
