// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// waits checks what node 1 waits for; the zero value: nothing.
func (r *rack) waits(what string, want api.Wait) {
	r.Helper()
	got := r.node(1).Wait
	if got == nil {
		got = &api.Wait{}
	}
	if *got != want {
		r.Errorf("%s: it waits as %+v, want %+v", what, *got, want)
	}
}

func TestAWaitHasAReason(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	r.register("d12")
	r.waits("declared", api.Wait{})
	r.bind(binding(1, "d12"))
	r.waits("bound", api.Wait{Kind: api.WaitsForBoot, For: "its next boot"})
	r.hello(1, first)
	r.speaks(1, first)
	r.waits("switched on by itself", api.Wait{Kind: api.WaitsForAdmit,
		For: "an operator who reads the code on its console", EndsBy: "sledctl admit n1 CODE"})
	if _, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900}); err != nil {
		t.Fatal(err)
	}
	r.speaks(1, first)
	r.observe(1, api.Status{Phase: api.Writing, Generation: 1})
	r.waits("a step that needs no secret", api.Wait{})
	held := api.Status{Phase: api.Configuring, Generation: 1, Withheld: now}
	r.observe(1, held)
	r.waits("withheld", api.Wait{Kind: api.WaitsForRival, For: "a rival (rival_time)",
		Until: r.view(1).Admission().Incumbent.HoldFrom.Add(5 * time.Minute), EndsBy: "sledctl admit n1 CODE"})
	if _, err := r.Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: first}}); err != nil {
		t.Fatal(err)
	}
	r.waits("proven", api.Wait{})
}

func TestAContestedNodeWaitsForADecision(t *testing.T) {
	r := contested(t)
	r.observe(1, api.Status{Phase: api.Configuring, Generation: 1, Withheld: now})
	r.waits("contested", api.Wait{Kind: api.WaitsForDecision,
		For: "an operator: another machine claims to be the node", EndsBy: "sledctl admit n1 CODE"})
}

func TestANodeThatChangesHandsWaitsForItsReset(t *testing.T) {
	r := newRackAt(t, admission.Open)
	r.register("d12")
	change := binding(1, "d12")
	change.Handover = true
	r.bind(change)
	r.waits("handed over", api.Wait{Kind: api.WaitsForReset, For: "a reset of its machine, which changes hands",
		EndsBy: "sledctl admit n1 --within 10m --reset"})
}

func TestAJobWaits(t *testing.T) {
	r := newRackAt(t, admission.Open)
	if _, err := r.CreateJob(t.Context(), api.JobSpec{Node: "n1", Image: "hpl"}); err != nil {
		t.Fatal(err)
	}
	r.waits("requested", api.Wait{Kind: api.WaitsForBoot, For: "its next boot"})
	r.observe(1, api.Status{Phase: api.Idle})
	r.waits("of a node that fetches its plan", api.Wait{})
	r.job(func(job *detour.Job) { job.Reason = api.Clean("image hpl is not registered") })
	r.waits("without its image", api.Wait{Kind: api.WaitsForImage, For: "its job: image hpl is not registered"})
}

// What came back after a payload is not admitted by the code on its console, and the wait names what admits it.
func TestANodeThatCameBackFromAPayloadWaitsForAReset(t *testing.T) {
	r := newRackAt(t, admission.Proven)
	r.inMemory()
	if _, err := r.CreateJob(t.Context(), api.JobSpec{Node: "n1", Image: "payload", Interrupt: true}); err != nil {
		t.Fatal(err)
	}
	r.job(func(job *detour.Job) {
		job.State, job.Confirm, job.Source = api.JobRunning, api.ConfirmNone,
			&api.ImageSpec{Payload: &api.Payload{Format: api.FormatLinux}}
	})
	r.waits("its payload runs", api.Wait{Kind: api.WaitsForPayload,
		For: "the end of its job, whose payload confirms by none", Until: time.Time{}.Add(time.Hour)})
	r.hello(1, first)
	r.speaks(1, first)
	back := api.Wait{Kind: api.WaitsForAdmit, For: "a reset, as its payload could have printed the code on its console",
		EndsBy: "sledctl admit n1 --within 10m --reset"}
	r.waits("it came back", back)
	r.job(nil)
	r.observe(1, api.Status{Run: api.Run{Payload: true}})
	r.waits("its job has ended", back)
	if _, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900, Revoke: true}); err != nil {
		t.Fatal(err)
	}
	r.waits("reset", api.Wait{Kind: api.WaitsForBoot, For: "its next boot, as the payload of its job has the machine"})
	r.hello(1, other)
	r.speaks(1, other)
	r.waits("reset, and back", api.Wait{Kind: api.WaitsForAdmit, For: "an operator who reads the code on its console",
		EndsBy: "sledctl admit n1 CODE"})
}

// job changes the job of node 1; nil: it has none.
func (r *rack) job(change func(job *detour.Job)) {
	r.Helper()
	err := r.Update(r.Context(), address(1), nil, func(tx *nodetx.Tx) error {
		next := *tx.Detour()
		if next.Job = nil; change != nil {
			job := *tx.Job()
			change(&job)
			next.Job = &job
		}
		tx.SetDetour(next)
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}
