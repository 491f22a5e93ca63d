// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const spoken = "payload: up"

// jumped is a machine with a recorded console that has started a payload.
func jumped(t *testing.T, payload api.Payload) *recorded {
	t.Helper()
	r := newRecorded(t, admission.Open)
	r.bindPayload(payload)
	r.boot()
	r.prints(spoken + "\n") // what the machine had printed before
	r.leap()
	return r
}

// bindPayload binds the machine to a payload.
func (r *recorded) bindPayload(payload api.Payload) {
	r.Helper()
	r.change(func(tx *nodetx.Tx) {
		bound := *tx.Binding()
		bound.Generation = 2
		bound.Source.Kind, bound.Source.Payload = api.KernelImage, &payload
		tx.Bind(bound, true)
	})
}

// leap runs the plan up to the jump.
func (r *recorded) leap() {
	r.Helper()
	if got := r.poll(); got != "fetch start" {
		r.Fatalf("the plan is %q", got)
	}
	r.does(api.Fetching, start(1, "fetch"))
	r.after(2 * time.Second)
	if err := r.report(end(1, "fetch", 0), start(2, "start")); err != nil {
		r.Fatal(err)
	}
	r.does(api.Starting, end(2, "start", 0))
}

// awaits searches once the hub knows whether a payload has started, and returns the phase.
func (r *recorded) awaits(starting int) api.Phase {
	r.Helper()
	r.await("the hub knows what starts", func() bool { return len(r.Hub.Starting()) == starting })
	r.search(r.Context())
	return r.status().Phase
}

// A payload that prints the code of an accomplice's claim admits nobody, whether it has confirmed or not.
func TestWhatAPayloadPrintsIsNoEvidence(t *testing.T) {
	for _, confirms := range []bool{false, true} {
		r := jumped(t, api.Payload{Format: "multiboot", Confirm: api.ConfirmConsole, Console: spoken})
		if confirms {
			r.prints(spoken + "\n")
			if got := r.awaits(1); got != api.Operational {
				t.Fatal(got)
			}
		}
		r.at(admission.Proven)
		code, claim := r.hello("192.0.2.66")
		r.after(10 * time.Second)
		r.prints("sled: claim " + code + "\n")
		r.looks()
		if r.pollBy(claim) != "" {
			t.Errorf("admitted by the console, confirmed %t", confirms)
		}
	}
}

// The token of a payload ends after a day.
func TestATokenOfAPayloadExpires(t *testing.T) {
	for age, expired := range map[time.Duration]bool{23 * time.Hour: false, 25 * time.Hour: true} {
		r := newRecorded(t, admission.Open)
		r.bindPayload(api.Payload{Format: "multiboot", Confirm: api.ConfirmHTTP})
		r.boot()
		r.tells()
		text, _ := url.PathUnescape(regexp.MustCompile(`confirm=(\S+)`).FindStringSubmatch(r.plan())[1])
		r.does(api.Fetching, start(1, "fetch"), end(1, "fetch", 0), start(2, "start"))
		r.does(api.Starting, end(2, "start", 0))
		_, token, _ := strings.Cut(text, "/up/")
		err := r.after(age).Up(t.Context(), token, 0)
		if refusal.Is(err, refusal.NotFound) != expired || !expired && err != nil {
			t.Errorf("after %s: %v", age, err)
		}
	}
}

func TestTheConsoleConfirmsAPayload(t *testing.T) {
	r := jumped(t, api.Payload{Format: "multiboot", Confirm: api.ConfirmConsole, Console: spoken})
	if got := r.awaits(1); got != api.Starting {
		t.Fatalf("confirmed by what was printed before the jump: %s", got)
	}
	r.prints("\x1b[2J\x1b[1;1Hpay\x1b[1mload: up")
	if got := r.awaits(1); got != api.Operational {
		t.Fatal(got)
	}
	last := r.load().Events()[0]
	how := last.Detail.String()
	if last.Kind != "operational" || !strings.HasPrefix(how, "confirmed by console") || last.Seconds <= 0 {
		t.Errorf("%+v", last)
	}
	r.prints(spoken + "\n")
	events := len(r.load().Events())
	if r.awaits(0); len(r.load().Events()) != events {
		t.Error("it confirmed twice")
	}
}

// As many nodes start at once as no single read of the store may ask for.
func TestTheConsoleConfirmsAmongMany(t *testing.T) {
	r := jumped(t, api.Payload{Format: "multiboot", Confirm: api.ConfirmConsole, Console: spoken})
	for i := range store.MaxOperations {
		err := r.DB.Update(t.Context(), fmt.Sprintf("52:54:00:99:00:%02x", i), nil, func(tx *nodetx.Tx) error {
			tx.Status().Phase, tx.Status().Memory = api.Starting, true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.prints(spoken + "\n")
	if got := r.awaits(1 + store.MaxOperations); got != api.Operational {
		t.Error(got)
	}
}

func TestAPayloadThatDoesNotConfirmFails(t *testing.T) {
	for confirm, text := range map[string]string{api.ConfirmHTTP: "", api.ConfirmConsole: spoken} {
		r := jumped(t, api.Payload{Format: "multiboot", Confirm: confirm, Console: text, Timeout: 60})
		r.after(59 * time.Second)
		r.prints("panic: \x1b[31mno memory\r\n")
		if got := r.awaits(1); got != api.Starting {
			t.Fatalf("%s, before its timeout: %s", confirm, got)
		}
		r.after(2 * time.Second)
		if got := r.awaits(1); got != api.Failed {
			t.Fatalf("%s, after its timeout: %s", confirm, got)
		}
		tx := r.load()
		reason, last := tx.Status().Reason.String(), tx.Events()[0]
		if !strings.HasPrefix(reason, "its payload did not confirm by "+confirm+" within 60 s; ") ||
			!strings.HasSuffix(reason, "its console ends: payload: up | panic: no memory") || tx.Status().Code != 0 {
			t.Errorf("%s: %q", confirm, reason)
		}
		if last.Kind != "lost" || last.Detail.String() != reason || !strings.Contains(string(*tx.Log()), "no memory") {
			t.Errorf("%s: %+v, log %q", confirm, last, *tx.Log())
		}
	}
}

// What was printed in time counts, also if sledd was away until the time was over.
func TestWhatWasPrintedInTimeCounts(t *testing.T) {
	r := jumped(t, api.Payload{Format: "multiboot", Confirm: api.ConfirmConsole, Console: spoken, Timeout: 60})
	r.prints(spoken + "\n")
	r.after(time.Hour)
	if got := r.awaits(1); got != api.Operational {
		t.Error(got)
	}
}

func TestAPayloadWithoutARecordHasItsTimeout(t *testing.T) {
	r := jumped(t, api.Payload{Format: "linux", Confirm: api.ConfirmHTTP})
	r.Consoles = ""
	r.after(299 * time.Second)
	if got := r.awaits(1); got != api.Starting {
		t.Fatal(got)
	}
	r.after(2 * time.Second)
	if got := r.awaits(1); got != api.Failed || r.status().Reason.String() !=
		"its payload did not confirm by http within 300 s" {
		t.Error(got, r.status().Reason)
	}
}
