// SPDX-License-Identifier: Apache-2.0

package double

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// BMC is how the BMC of a machine behaves (sled-double rack).
type BMC struct {
	Address string     `json:"address"` // of the machine that runs the rack
	Answer  [2]float64 `json:"answer"`  // seconds that an answer takes: shortest, longest
	Silent  bool       `json:"silent"`  // it takes connections and never answers
	Lies    bool       `json:"lies"`    // it accepts power verbs and does nothing

	FlagSeconds float64 `json:"flag_seconds"`  // that the device of the next boot lives; 0: until the boot
	FlagEndsOff bool    `json:"flag_ends_off"` // the device is forgotten when power goes off
	OffSeconds  float64 `json:"off_seconds"`   // from the request until power is off

	// What runs while it is on, with the device of that boot as its last word; empty: a double.
	Program []string `json:"program"`
}

// Seen is what a BMC has counted.
type Seen struct {
	Most int         `json:"most"` // requests at one time
	On   []time.Time `json:"on"`   // when requests came that switched it on
	From []string    `json:"from"` // the device of each power-on; empty: as the boot order has it
}

const (
	systems = "/redfish/v1/Systems"
	system  = systems + "/1"
	reset   = system + "/Actions/ComputerSystem.Reset"
)

type bmc struct {
	dir, mac string
	settings BMC

	mu      sync.Mutex
	stop    context.CancelFunc // nil: off
	ended   chan struct{}
	flag    override
	flagged time.Time
	flights int
	seen    Seen
}

// override is the device of the next boot.
type override struct {
	Target  string `json:"BootSourceOverrideTarget"`
	Enabled string `json:"BootSourceOverrideEnabled"`
	Mode    string `json:"BootSourceOverrideMode,omitempty"`
}

var noOverride = override{Target: "None", Enabled: "Disabled"}

// ServeHTTP answers one request of Redfish; /double has what was counted, and does not count.
func (b *bmc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/double" {
		b.mu.Lock()
		defer b.mu.Unlock()
		answer(w, b.seen)
		return
	}
	b.mu.Lock()
	arrived := time.Now()
	b.flights++
	b.seen.Most = max(b.seen.Most, b.flights)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.flights--
		b.mu.Unlock()
	}()
	low, high := b.settings.Answer[0], b.settings.Answer[1]
	if pause(r.Context(), seconds(low+rand.Float64()*(high-low))) != nil { //nolint:gosec // no secret
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r.Method + " " + strings.TrimSuffix(r.URL.Path, "/") {
	case "GET " + systems:
		answer(w, map[string]any{"Members": []any{map[string]string{"@odata.id": system}}})
	case "GET " + system:
		answer(w, map[string]any{"PowerState": map[bool]string{true: "On", false: "Off"}[b.stop != nil],
			"Boot": b.current()})
	case "PATCH " + system:
		b.patch(w, r)
	case "POST " + reset:
		b.reset(w, r, arrived) //nolint:contextcheck // the machine outlives it
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the caller has gone
}

// current is the device of the next boot, unless it was forgotten.
func (b *bmc) current() override {
	dead := b.settings.FlagSeconds > 0 && time.Since(b.flagged) > seconds(b.settings.FlagSeconds)
	if b.flag.Target == "" || dead {
		return noOverride
	}
	return b.flag
}

func (b *bmc) patch(w http.ResponseWriter, r *http.Request) {
	var body struct{ Boot override }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.flag, b.flagged = body.Boot, time.Now()
	w.WriteHeader(http.StatusNoContent)
}

func (b *bmc) reset(w http.ResponseWriter, r *http.Request, arrived time.Time) {
	var body struct{ ResetType string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := b.press(body.ResetType, arrived); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// press carries out a reset type. b.mu is held.
func (b *bmc) press(kind string, arrived time.Time) error {
	if b.settings.Lies {
		return nil
	}
	switch kind {
	case "On":
		return b.on(arrived)
	case "ForceOff":
		b.off()
	case "ForceRestart":
		b.off()
		return b.on(arrived)
	default:
		return fmt.Errorf("%q: want On, ForceOff or ForceRestart", kind)
	}
	return nil
}

func (b *bmc) on(arrived time.Time) error {
	if b.stop != nil {
		return nil
	}
	device := map[string]string{"Pxe": "pxe", "Hdd": "disk"}[b.current().Target]
	ctx, stop := context.WithCancel(context.Background())
	b.ended = make(chan struct{})
	run := func() error { return start(ctx, b.dir, b.mac, device, b.ended) }
	if len(b.settings.Program) > 0 {
		run = func() error { return execute(ctx, append(slices.Clone(b.settings.Program), device), b.ended) }
	}
	if err := run(); err != nil {
		stop()
		return err
	}
	b.stop, b.flag = stop, override{}
	b.seen.On, b.seen.From = append(b.seen.On, arrived), append(b.seen.From, device)
	return nil
}

// off cuts the power, now or when the time for that has passed.
func (b *bmc) off() {
	if b.stop == nil {
		return
	}
	if b.settings.OffSeconds > 0 {
		time.AfterFunc(seconds(b.settings.OffSeconds), b.cut)
		return
	}
	b.down()
}

// cut cuts the power.
func (b *bmc) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down()
}

func (b *bmc) down() {
	if b.stop == nil {
		return
	}
	b.stop()
	<-b.ended
	b.stop = nil
	if b.settings.FlagEndsOff {
		b.flag = override{}
	}
}
