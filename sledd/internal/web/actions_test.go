// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// waiting is the number of a node that waits in the Sled system, undeclared.
const waiting = 7

// bench runs a sledd with an image, a machine that waits, and a browser of an operator.
func bench(t *testing.T) (*browser, *sleddtest.Machine) {
	t.Helper()
	return benchOn(t, &storetest.Memory{})
}

func benchOn(t *testing.T, shared *storetest.Memory) (*browser, *sleddtest.Machine) {
	t.Helper()
	b := &browser{T: t, Sledd: sleddtest.StartWith(t, sleddtest.Options{Store: shared})}
	b.Register("debian-12-v1")
	b.Register("debian-12-v2")
	b.login(b.operator("friday", api.Operate).Token)
	machine := b.Machine(waiting)
	machine.Poll(0)
	return b, machine
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// filled opens a form by its address, and returns what it sends unless something is typed.
func (b *browser) filled(address string) url.Values {
	b.Helper()
	a := b.ask("GET", address, nil)
	if a.Status != http.StatusOK {
		b.Fatalf("%s: %d %s", address, a.Status, a.Body)
	}
	return fieldsOf(a.Body)
}

func fieldsOf(page string) url.Values {
	values := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	return values
}

// with adds fields in pairs.
func with(values url.Values, pairs ...string) url.Values {
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}

// goes sends a form that succeeds.
func (b *browser) goes(address string, values url.Values) {
	b.Helper()
	if a := b.ask("POST", address, values); a.Status != http.StatusSeeOther {
		b.Errorf("%s: %d %s", address, a.Status, a.Body)
	}
}

// refused sends a form that is refused with a status and a text, and writes nothing.
func (b *browser) refused(address string, values url.Values, status int, text string) {
	b.Helper()
	before := b.writes()
	a := b.ask("POST", address, values)
	keep(b.T, "refused-"+address, a.Body)
	if a.Status != status || !strings.Contains(html.UnescapeString(a.Body), text) {
		b.Errorf("%s: %d, want %d and %q: %s", address, a.Status, status, text, a.Body)
	}
	if b.writes() != before {
		b.Errorf("%s has changed something", address)
	}
}

// writes is what nodes and bindings have stored.
func (b *browser) writes() string {
	b.Helper()
	var text strings.Builder
	nodes, err := api.Collect(b.Client().Nodes(b.Context(), api.Filter{}))
	if err != nil {
		b.Fatal(err)
	}
	for _, node := range nodes {
		text.WriteString(node.MAC + node.Name + node.Disk + string(node.Status.Phase))
		if node.Binding != nil {
			text.WriteString(node.Binding.Image + string(rune(node.Binding.Generation)))
		}
		if node.Rescue != nil {
			text.WriteString(strings.Join(node.Rescue.AuthorizedKeys, " "))
		}
	}
	return text.String()
}

func form(action string) string { return "/ui/nodes/" + sleddtest.MAC(waiting) + "/" + action }

// A machine that nobody declared is accepted and imaged with nothing but the page.
func TestTheFirstMachine(t *testing.T) {
	b, machine := bench(t)
	shown := b.ask("GET", form("accept"), nil).Body
	keep(t, "accept", shown)
	for _, want := range []string{sleddtest.MAC(waiting), "LAB-0007", "EPYC"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the form does not show %s: %s", want, shown)
		}
	}
	b.goes(form("accept"), url.Values{"act": {"accept"}, "name": {"n7"}, "disk": {"serial:LAB-0007"},
		"labels": {"rack=a\nrole=storage hall"}})
	node := b.Node(waiting)
	if node.Name != "n7" || node.Disk != "serial:LAB-0007" || node.Labels["role"] != "storage hall" {
		t.Errorf("%+v", node.NodeSpec)
	}
	machine.Poll(0)
	outlook := b.ask("POST", form("install"), url.Values{"act": {"show"}, "image": {"debian-12-v1"},
		"keys": {sshkeys.Alice + " alice"}})
	if outlook.Status != http.StatusOK || !strings.Contains(outlook.Body, "n7: serial:LAB-0007") {
		t.Fatalf("%d %s", outlook.Status, outlook.Body)
	}
	keep(t, "outlook", outlook.Body)
	sent := fieldsOf(outlook.Body)
	b.refused(form("install"), with(sent, "act", "install", "typed", "n8"), http.StatusUnprocessableEntity,
		`the name of the node is n7, and not "n8"`)
	b.goes(form("install"), with(sent, "typed", "n7"))
	if plan := machine.Poll(0); !strings.Contains(plan, "serial:LAB-0007") {
		t.Errorf("the node gets %q", plan)
	}
	if bound := b.Node(waiting).Binding; bound.Image != "debian-12-v1" || len(bound.AuthorizedKeys) != 1 {
		t.Errorf("%+v", bound)
	}
}

// shown declares n7, and opens the form that wipes it.
func (b *browser) shown(machine *sleddtest.Machine) url.Values {
	b.Helper()
	b.Declare(waiting)
	machine.Poll(0)
	return with(b.filled(form("install")+"?image=debian-12-v1"), "act", "install", "typed", "n7")
}

// What was shown has changed before the name was typed: nothing is written.
func TestWhatWasShownHolds(t *testing.T) {
	for name, one := range map[string]struct {
		change func(b *browser, machine *sleddtest.Machine)
		status int
		text   string
	}{
		"generation": {func(b *browser, _ *sleddtest.Machine) {
			b.Bind(api.BindingSpec{Node: "n7", Image: "debian-12-v2"})
		}, http.StatusPreconditionFailed, "by admin via other"},
		"disk": {func(b *browser, _ *sleddtest.Machine) {
			spec := sleddtest.Node(waiting)
			spec.Disk = "serial:OTHER"
			if _, err := b.Client().PutNode(b.Context(), spec); err != nil {
				b.Fatal(err)
			}
		}, http.StatusPreconditionFailed, "something else was shown"},
		"at work": {func(b *browser, machine *sleddtest.Machine) {
			b.Bind(api.BindingSpec{Node: "n7", Image: "debian-12-v2"})
			machine.Poll(0)
			machine.Report("begin step=1 of=4 verb=write")
		}, http.StatusConflict, "does not wait in the Sled system: it is"},
		"rescue": {func(b *browser, _ *sleddtest.Machine) {
			if _, err := b.Client().PutRescue(b.Context(), "n7",
				api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice}}); err != nil {
				b.Fatal(err)
			}
		}, http.StatusConflict, "does not wait in the Sled system"},
		"owner": {func(b *browser, _ *sleddtest.Machine) {
			b.Bind(api.BindingSpec{Node: "n7", Image: "debian-12-v2", Owner: "terraform:lab"})
		}, http.StatusConflict, "belongs to terraform:lab"},
		"image": {func(b *browser, _ *sleddtest.Machine) {
			if err := b.Client().DeleteImage(b.Context(), "debian-12-v1"); err != nil {
				b.Fatal(err)
			}
		}, http.StatusUnprocessableEntity, "image debian-12-v1 does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			b, machine := bench(t)
			sent := b.shown(machine)
			one.change(b, machine)
			b.T = t
			b.refused(form("install"), sent, one.status, one.text)
		})
	}
}

// A node that has left the Sled system keeps its disk.
func TestANodeThatIsGoneIsNotBound(t *testing.T) {
	ahead := time.Duration(0)
	b := &browser{T: t, Sledd: sleddtest.StartWith(t, sleddtest.Options{Store: &storetest.Memory{},
		Now: func() time.Time { return time.Now().Add(ahead) }})}
	b.Register("debian-12-v1")
	b.login(b.operator("friday", api.Operate).Token)
	machine := b.Machine(waiting)
	machine.Poll(0)
	sent := b.shown(machine)
	ahead = 4 * time.Minute
	b.refused(form("install"), sent, http.StatusPreconditionFailed, "does not wait in the Sled system any more")
}

// Who comes second learns who came first, and changes nothing.
func TestTheSecondIsToldWhoWasFirst(t *testing.T) {
	b, machine := bench(t)
	accept := url.Values{"act": {"accept"}, "name": {"n8"}}
	ann := b.operator("ann", api.Operate)
	first := &browser{T: t, Sledd: b.Sledd}
	first.login(ann.Token)
	first.goes(form("accept"), url.Values{"act": {"accept"}, "name": {"n7"}, "disk": {"serial:LAB-0007"}})
	b.refused(form("accept"), accept, http.StatusConflict, "by ann via web")

	start := url.Values{"act": {"start"}, "keys": {sshkeys.Bob}}
	first.goes(form("rescue"), url.Values{"act": {"start"}, "keys": {sshkeys.Alice}})
	b.refused(form("rescue"), start, http.StatusPreconditionFailed, "by ann via web")
	end := with(b.filled(form("rescue")), "act", "end")
	first.goes(form("rescue"), end)
	b.refused(form("rescue"), end, http.StatusConflict, "by ann via web")

	machine.Poll(0)
	sent := with(b.filled(form("install")+"?image=debian-12-v1"), "act", "install", "typed", "n7")
	first.goes(form("install"), with(first.filled(form("install")+"?image=debian-12-v2"), "act", "install", "typed", "n7"))
	b.refused(form("install"), sent, http.StatusPreconditionFailed, "by ann via web")

	rollout := "/ui/rollouts/" + b.started() + "/abort"
	first.goes(rollout, url.Values{"act": {"abort"}})
	b.refused(rollout, url.Values{"act": {"abort"}}, http.StatusConflict, "aborted already: aborted by ann via web")
}

// Who comes second at the same instant, after the page has looked, learns it as well.
func TestTheSecondOfTheSameInstantIsTold(t *testing.T) {
	shared := &storetest.Memory{}
	b, machine := benchOn(t, shared)
	first := &browser{T: t, Sledd: b.Sledd}
	first.login(b.operator("ann", api.Operate).Token)
	meanwhile := func(address string, sent url.Values, text string) {
		shared.Before(func(call string) error {
			if call == "commit" {
				shared.Before(nil)
				first.goes(address, sent)
			}
			return nil
		})
		if a := b.ask("POST", address, sent); a.Status != http.StatusConflict || !strings.Contains(a.Body, text) {
			t.Errorf("%s: %d %s", address, a.Status, a.Body)
		}
	}
	b.Declare(waiting)
	meanwhile("/ui/rollouts/"+b.started()+"/abort", url.Values{"act": {"abort"}}, "aborted by ann via web")
	b.rival()
	machine.Poll(0)
	meanwhile(form("alarms"), with(b.filled(form("alarms")), "act", "ack"), "by ann via web")
}

// started starts a rollout.
func (b *browser) started() string {
	b.Helper()
	one, err := b.Client().StartRollout(b.Context(), "reimage", api.RolloutSpec{Nodes: []string{"n7"}, Desired: "image d"})
	if err != nil {
		b.Fatal(err)
	}
	return one.Name
}

// A machine that was accepted and is not admitted yet gets no plan: installing would promise a start at once.
func TestANodeWithoutAMachineDoesNotWait(t *testing.T) {
	b := &browser{T: t, Sledd: sleddtest.Start(t)}
	b.Register("debian-12-v1")
	b.login(b.operator("friday", api.Operate).Token)
	b.Claim(waiting, "boot-1")
	spec := sleddtest.Node(waiting)
	spec.Admission = "proven"
	if _, err := b.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if phase := b.Node(waiting).Status.Phase; phase != api.Idle {
		t.Fatalf("the node is %s", phase)
	}
	if page := b.ask("GET", "/ui/nodes/"+sleddtest.MAC(waiting), nil).Body; strings.Contains(page, form("install")) {
		t.Error("the page offers to install")
	}
	b.refused(form("install"), url.Values{"act": {"show"}, "image": {"debian-12-v1"}}, http.StatusConflict,
		"No machine is admitted as n7")
}

func TestClaimsAndAlarms(t *testing.T) {
	b := &browser{T: t, Sledd: sleddtest.Start(t)}
	spec := sleddtest.Node(waiting)
	spec.Admission = "proven"
	if _, err := b.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	b.login(b.operator("friday", api.Operate).Token)
	intruder, _ := b.Claim(waiting, "boot-1")
	code, token := b.Claim(waiting, "boot-2")
	shown := b.ask("GET", "/ui/nodes/"+sleddtest.MAC(waiting), nil).Body
	if strings.Contains(shown, code) || !strings.Contains(shown, "CODE") || !strings.Contains(shown, ">claim<") {
		b.Errorf("code %s is read on the console, not on the page: %s", code, shown)
	}
	b.refused(form("admission"), url.Values{"act": {"admit"}, "code": {"K7QF"}}, http.StatusUnprocessableEntity, "code")
	b.goes(form("admission"), url.Values{"act": {"refuse"}, "code": {intruder}})
	b.refused(form("admission"), url.Values{"act": {"refuse"}, "code": {intruder}}, http.StatusNotFound,
		"by friday via web")
	b.goes(form("admission"), url.Values{"act": {"admit"}, "code": {code}})
	if b.Polls(waiting, token) == "" {
		t.Error("the machine is not admitted")
	}
}
