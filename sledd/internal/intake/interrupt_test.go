// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

func TestLastWordsNameTheCause(t *testing.T) {
	m := newMachine(t, nil)
	m.boot()
	text := "--- dmesg\n<4>watchdog: BUG: soft lockup\n<0>Kernel panic - not syncing: Fatal exception\n"
	if _, err := m.LastWords(t.Context(), mac, m.token, nodetext.RawOf([]byte(text))); err != nil {
		t.Fatal(err)
	}
	newest := m.load().Events()[0]
	if newest.Kind != "lastwords" || newest.Detail.String() != "Kernel panic - not syncing: Fatal exception" ||
		newest.Bytes != int64(len(text)) {
		t.Errorf("%+v", newest)
	}
}

func TestAnUnconfirmedKexecMakesTheNextStartAReboot(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.boot()
	m.poll()
	m.does(api.Starting, report.Line{Kind: report.End, Step: 4, Verb: "kexec", Way: "kexec"})
	m.bind(2, api.BindingSpec{Image: "d12"})
	m.boot()
	if got := m.poll(); got != "wipe write configure reboot" {
		t.Errorf("the plan is %q", got)
	}
	if status := m.status(); !strings.Contains(status.StartNote.String(), "was not confirmed") ||
		m.load().Kexecs().Missed != 1 {
		t.Errorf("%+v, %+v", status, m.load().Kexecs())
	}
	m.bind(3, api.BindingSpec{Image: "d12", Boot: "kexec"})
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Errorf("with boot=kexec the plan is %q", got)
	}
}

func TestARescueInterruptsThePlan(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"})
	m.change(func(tx *nodetx.Tx) {
		tx.Status().Phase, tx.Status().Generation = api.Operational, 1
		keys := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice}}
		tx.SetDetour(detour.Detour{Rescue: &api.Rescue{RescueSpec: keys}})
	})
	if !m.boot() {
		t.Fatal("a node under rescue boots its own disk")
	}
	if got := m.poll(); got != "rescue" {
		t.Fatalf("the plan is %q", got)
	}
	_, _, err := m.Seed(t.Context(), mac, m.token)
	m.refused("a seed under rescue", err, refusal.Forbidden)
	entered := report.Line{Kind: report.End, Step: 1, Verb: "rescue", Entry: report.Entry{
		Address: nodetexttest.Address("10.0.0.1"), HostKey: nodetexttest.Key(nodetexttest.HostKey)}}
	m.does(api.UnderRescue, report.Line{Kind: report.Begin, Step: 1, Of: 1, Verb: "rescue"}, entered)
	tx := m.load()
	if tx.Detour().Rescue.Address.String() != "10.0.0.1" || tx.Detour().Rescue.Fingerprint.IsZero() ||
		tx.Status().Before != api.Operational || !tx.Satisfied() {
		t.Errorf("%+v, %+v", tx.Detour().Rescue, tx.Status())
	}
	m.change(func(tx *nodetx.Tx) {
		tx.SetDetour(detour.Detour{})
		tx.Enter(api.Operational)
	})
	if got := m.poll(); got != "reboot" {
		t.Errorf("after the rescue the plan is %q", got)
	}
}

func TestACaptureRegistersItsImage(t *testing.T) {
	for partition, kind := range map[string]string{"": "", "part-label:root": api.PartitionImage} {
		t.Run("partition "+partition, func(t *testing.T) { registersItsImage(t, partition, kind) })
	}
}

func registersItsImage(t *testing.T, partition, kind string) {
	t.Helper()
	m := newMachine(t, &api.BindingSpec{Capture: "golden", Partition: partition})
	m.boot()
	if got := m.poll(); got != "capture reboot" {
		t.Fatalf("the plan is %q", got)
	}
	if err := m.Upload(t.Context(), mac, m.token, 1); err != nil {
		t.Error(err)
	}
	m.refused("an upload of another generation", m.Upload(t.Context(), mac, m.token, 2), refusal.Forbidden)
	done := end(1, "capture", 0)
	done.Made = report.Made{Digest: nodetexttest.Digest("sha256:" + strings.Repeat("7", 64)), Bytes: 512, FileBytes: 9}
	m.does(api.Captured, start(1, "capture"), done)
	image, err := m.DB.Image(t.Context(), "golden")
	if err != nil || image.Kind != kind || image.Bytes != 512 || image.Labels["captured-from"] != "n1" ||
		!strings.HasPrefix(image.URLs[0], "http://s/images/captured/") {
		t.Errorf("%+v, %v", image, err)
	}
	m.refused("an upload when it is registered", m.Upload(t.Context(), mac, m.token, 1), refusal.Forbidden)
}

func TestAWaitingPollEndsWithItsContext(t *testing.T) {
	m := newMachine(t, nil)
	m.boot()
	if got := m.poll(); got != "idle" {
		t.Fatalf("the plan is %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan intake.Answer, 1)
	go func() {
		answer, _ := m.Poll(ctx, mac, m.token, m.run, time.Minute)
		answered <- answer
	}()
	patience.Until(t, "it waits", func() bool { return m.Hub.Waiting() == 1 })
	cancel()
	if answer := <-answered; answer.Plan != "" {
		t.Errorf("%+v", answer)
	}
}
