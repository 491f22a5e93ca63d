// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

var powerCycle = admission.Expect{For: 15 * time.Minute, By: "power", Reset: true}

// TestTheOwnerBeforeGetsNothingOfTheNextOne: root of an installed system prints the code of a claim of another machine,
// before and after the next image was bound.
func TestTheOwnerBeforeGetsNothingOfTheNextOne(t *testing.T) {
	for name, bindFirst := range map[string]bool{"printed before it was bound": false, "printed after that": true} {
		t.Run(name, func(t *testing.T) {
			r := newRecorded(t, admission.Proven)
			r.installs()
			next := func() { r.bind(2, api.BindingSpec{Image: "d12", Hostname: "next"}) }
			if bindFirst {
				next()
			}
			code, claim := r.after(time.Minute).hello("192.0.2.66")
			r.prints("sled: claim " + code + "\n")
			r.looks()
			if r.pollBy(claim) != "" {
				t.Error("the claim is admitted while the installed system runs")
			}
			if !bindFirst {
				next()
			}
			r.after(time.Minute).decide(powerCycle)
			r.after(time.Minute)
			r.prints("some text\n")
			r.search(t.Context())
			_, err := r.Poll(t.Context(), mac, claim, intake.None, 0)
			r.refused("a claim of before the reset", err, refusal.Unauthorized)

			code, claim = r.after(time.Minute).hello("192.0.2.1")
			r.prints("sled: claim " + code + "\n")
			r.looks()
			if r.token = r.pollBy(claim); r.token == "" {
				t.Fatal("the machine is not admitted")
			}
			r.run = intake.None
			r.poll()
			if err := third(r.Seed(t.Context(), mac, r.token)); err != nil || len(r.load().Admission().Alarms) != 0 {
				t.Errorf("%v, %+v", err, r.load().Admission().Alarms)
			}
		})
	}
}

// installs images the machine, up to its first report from its disk.
func (r *recorded) installs() {
	r.Helper()
	code, claim := r.hello("192.0.2.1")
	r.prints("sled: claim " + code + "\n")
	r.looks()
	r.token = r.pollBy(claim)
	r.poll()
	r.does(api.Writing, start(2, "write"))
	r.does(api.Configuring, end(2, "write", 0), start(3, "configure"))
	if err := third(r.Seed(r.Context(), mac, r.token)); err != nil {
		r.Fatal(err)
	}
	r.does(api.Starting, start(4, "kexec"), report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"})
}

func TestATicketEndsWithTheReset(t *testing.T) {
	m := newMachine(t, nil).at(admission.Proven)
	var unused, used string
	m.change(func(tx *nodetx.Tx) { unused = tx.IssueTicket().Token })
	m.decide(powerCycle)
	m.refused("a ticket of before", second(m.helloFrom("192.0.2.1", unused)), refusal.Unauthorized)
	m.change(func(tx *nodetx.Tx) { used = tx.IssueTicket().Token })
	if err := second(m.helloFrom("192.0.2.1", used)); err != nil {
		t.Fatal(err)
	}
	m.decide(admission.HandOver{})
	m.after(time.Minute)
	m.refused("a ticket of before, again", second(m.helloFrom("192.0.2.1", used)), refusal.Unauthorized)
}

// TestASeedForAnotherBootIsAnAlarm, and one event, not two.
func TestASeedForAnotherBootIsAnAlarm(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
		m.after(time.Minute).enter(address)
		m.poll()
		if err := third(m.Seed(t.Context(), mac, m.token)); err != nil {
			t.Fatal(err)
		}
	}
	alarms := m.load().Admission().Alarms
	if len(alarms) != 1 || alarms[0].Kind != admission.SeedAlarm || alarms[0].Address != "192.0.2.2" ||
		m.count("seed") != 2 {
		t.Errorf("%+v, %d events", alarms, m.count("seed"))
	}
}
