// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// alone is a node with a recorded console that has a job of a payload, and its plan.
func alone(t *testing.T, phase api.Phase, confirm string) (r *recorded, token string) {
	t.Helper()
	r = newRecorded(t, admission.Open)
	r.DB.Policy.Rules = quick()
	payload := &api.Payload{Format: api.FormatLinux, Arguments: "up={confirm}", Confirm: confirm}
	if confirm == api.ConfirmConsole {
		payload.Console = spoken
	}
	r.change(func(tx *nodetx.Tx) {
		tx.Writes.Put(key.Images+"hpl", nodetx.Encode(nodetx.StoredImage{ImageSpec: api.ImageSpec{Name: "hpl",
			Kind: api.KernelImage, Digest: "sha256:" + strings.Repeat("7", 64), URLs: []string{"http://s/images/hpl"},
			Payload: payload}}))
		status := tx.Status()
		status.Generation, status.Run.Generation = tx.Generation(), tx.Generation()
		tx.Enter(phase)
	})
	r.gets(api.JobSpec{Arguments: "quiet"})
	r.boot()
	text := r.plan()
	if !strings.Contains(text, " as=kernel\nstart as=kernel format=linux append=up%3D%7Bconfirm%7D%20quiet") {
		t.Fatalf("the plan is\n%s", text)
	}
	if found := regexp.MustCompile(` confirm=(\S+)`).FindStringSubmatch(text); found != nil {
		at, _ := url.PathUnescape(found[1])
		_, token, _ = strings.Cut(at, "/up/")
	}
	return r, token
}

// jumps does the steps of the plan.
func (r *recorded) jumps() {
	r.Helper()
	r.does(api.Fetching, start(1, "fetch"))
	r.does(api.Running, end(1, "fetch", 0), start(2, "start"))
	r.prints(spoken + "\n") // by what ran before
	r.after(2 * time.Second)
	r.does(api.Running, end(2, "start", 0))
	if job := r.load().Job(); job == nil || job.State != api.JobRunning {
		r.Fatalf("%+v", job)
	}
}

var payloadEnds = []struct {
	name, confirm string
	end           func(r *recorded, token string) error
	state         api.JobState
	by, why       string
	exit          int // negative: none
}{
	{"it says so", "http", func(r *recorded, token string) error { return r.Up(r.Context(), token, 7) },
		api.JobDone, "payload", "", 7},
	{"its console shows it", "console", func(r *recorded, _ string) error {
		r.awaits(1)
		r.prints(spoken + "\n")
		r.awaits(1)
		return nil
	}, api.JobDone, "payload", "", 0},
	{"the machine comes back", "none", func(r *recorded, _ string) error { r.boot(); return nil },
		api.JobDone, "node", "", 0},
	{"the machine comes back too early", "http", func(r *recorded, _ string) error { r.boot(); return nil },
		api.JobLost, "node", "the node restarted before its payload had confirmed by http", -1},
	{"the machine is switched off and on too early", "http", func(r *recorded, _ string) error {
		r.prints("no memory\n")
		r.after(time.Second)
		r.decide(admission.Expect{For: 15 * time.Minute, By: "power", Reset: true})
		r.after(time.Second)
		r.prints("the firmware\n")
		r.boot()
		return nil
	}, api.JobLost, "node", "the node restarted before its payload had confirmed by http; " +
		"its console ends: payload: up | no memory", -1},
	{"its time is over", "console", func(r *recorded, _ string) error {
		r.after(59 * time.Second)
		r.awaits(1)
		if r.load().Job() == nil {
			r.Error("it ended too early")
		}
		r.prints("no memory\n")
		r.after(2 * time.Second)
		r.endsSilent()
		r.awaits(1)
		return nil
	}, api.JobFailed, "timeout", "its payload did not confirm by console within 60 s; " +
		"its console ends: payload: up | no memory", -1},
	{"its time is over, and nothing was to come", "none", func(r *recorded, _ string) error {
		r.after(time.Hour)
		r.awaits(1)
		return nil
	}, api.JobFailed, "timeout", "its payload ran for 60 s; its console ends: payload: up", -1},
}

func TestTheEndsOfAPayload(t *testing.T) {
	for _, c := range payloadEnds {
		t.Run(c.name, func(t *testing.T) {
			r, token := alone(t, api.Operational, c.confirm)
			r.jumps()
			if err := c.end(r, token); err != nil {
				t.Fatal(err)
			}
			job := r.ended()
			if job.State != c.state || job.EndedBy != c.by || job.Reason.String() != c.why || job.Confirm != c.confirm ||
				(c.exit < 0) != (job.Exit == nil) || job.Exit != nil && *job.Exit != c.exit || job.Seconds <= 0 {
				t.Errorf("%+v", job)
			}
			status := r.status()
			if status.Phase != api.Operational || r.load().Detour() != nil || !status.Run.Payload {
				t.Errorf("%+v", status)
			}
			if r.startsSled() {
				t.Error("its disk is not started again")
			}
			if token != "" {
				r.refused("a word after the end", r.Up(t.Context(), token, 0), refusal.NotFound)
			}
		})
	}
}

// A node that waited waits again.
func TestANodeReturnsFromAPayload(t *testing.T) {
	r, token := alone(t, api.Failed, api.ConfirmHTTP)
	r.jumps()
	if err := r.Up(t.Context(), token, 0); err != nil {
		t.Fatal(err)
	}
	if !r.boot() {
		t.Fatal("it does not start the Sled system")
	}
	if got := r.poll(); got == "fetch start" || r.status().Run.Payload {
		t.Errorf("then %q, %+v", got, r.status().Run)
	}
}

func TestAPayloadReportsTooEarly(t *testing.T) {
	r, token := alone(t, api.Operational, api.ConfirmHTTP)
	r.does(api.Fetching, start(1, "fetch"))
	r.refused("before the end of fetch", r.Up(t.Context(), token, 0), refusal.Forbidden)
	r.does(api.Fetching, end(1, "fetch", 0))
	r.refused("before the jump", r.Up(t.Context(), token, 0), refusal.Forbidden)
	r.does(api.Running, start(2, "start"), end(2, "start", 0))
	foreign := strings.Replace(token, "525400770001", "525400770002", 1)
	r.refused("of another node", r.Up(t.Context(), foreign, 0), refusal.NotFound)
	r.refused("of nobody", r.Up(t.Context(), token[:len(token)-1]+"g", 0), refusal.NotFound)
	if job := r.load().Job(); job == nil || job.State != api.JobRunning {
		t.Fatalf("%+v", job)
	}
	if err := r.Up(t.Context(), token, 0); err != nil {
		t.Error(err)
	}
}

// A payload of which the jump was not reported may have run: it is not started again.
func TestAPayloadJumpsOnce(t *testing.T) {
	r, _ := alone(t, api.Operational, api.ConfirmNone)
	r.does(api.Fetching, start(1, "fetch"))
	r.boot() // a power cut while it fetches
	if got := r.poll(); got != "fetch start" {
		t.Fatalf("after a restart while it fetched: %q", got)
	}
	r.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "start"))
	r.boot()
	if job := r.ended(); job.State != api.JobDone || job.EndedBy != "node" {
		t.Errorf("%+v", job)
	}
}

func TestAPayloadThatDoesNotStart(t *testing.T) {
	r, token := alone(t, api.Operational, api.ConfirmHTTP)
	r.does(api.Running, start(1, "fetch"), end(1, "fetch", 0), start(2, "start"))
	r.does(api.Operational, end(2, "start", 3))
	if job := r.ended(); job.State != api.JobFailed || job.EndedBy != "sled" || job.Code != 3 || r.status().Run.Payload {
		t.Errorf("%+v, %+v", job, r.status().Run)
	}
	r.refused("its word", r.Up(t.Context(), token, 0), refusal.NotFound)
	if got := r.poll(); got != "reboot" {
		t.Errorf("then %q", got)
	}
}

func TestACancelledPayloadIsNotStarted(t *testing.T) {
	r, _ := alone(t, api.Operational, api.ConfirmNone)
	r.does(api.Fetching, start(1, "fetch"))
	r.cancel()
	r.refused("the start of a cancelled payload", r.report(end(1, "fetch", 0), start(2, "start")), refusal.Forbidden)
	if got := r.poll(); got != "reboot" {
		t.Errorf("then %q", got)
	}
	r.does(api.Operational, start(1, "reboot"))
	if job := r.ended(); job.State != api.JobCancelled || !job.Started.IsZero() {
		t.Errorf("%+v", job)
	}
}

// A payload that prints the code of an accomplice's claim admits nobody, also after the end of its job.
func TestWhatThePayloadOfAJobPrintsIsNoEvidence(t *testing.T) {
	for _, ends := range []bool{false, true} {
		r, token := alone(t, api.Operational, api.ConfirmHTTP)
		r.jumps()
		if ends {
			if err := r.Up(t.Context(), token, 0); err != nil {
				t.Fatal(err)
			}
		}
		r.at(admission.Proven)
		r.decide(admission.Expect{For: time.Hour, By: "admin"}) // without a reset
		code, claim := r.hello("192.0.2.66")
		r.after(10 * time.Second)
		r.prints("sled: claim " + code + "\n")
		r.looks()
		if r.pollBy(claim) != "" {
			t.Errorf("admitted by the console, ended %t", ends)
		}
	}
}
