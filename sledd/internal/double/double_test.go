// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/double"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// machine switches double n1 on inside the test; what is given back cuts its power.
func machine(t *testing.T, s *sleddtest.Sledd, dir, settings string) func() {
	t.Helper()
	return recorded(t, s, dir, settings, io.Discard)
}

// recorded is such a machine whose console is recorded.
func recorded(t *testing.T, s *sleddtest.Sledd, dir, settings string, record io.Writer) func() {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "defaults.yaml"),
		fmt.Appendf(nil, "server: %s\nstep_seconds: 0.02\ndisk: LAB-0001\n%s", s.URL, settings), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := double.Open(dir, sleddtest.MAC(1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	var console bytes.Buffer
	ended := make(chan struct{})
	go func() {
		_ = m.Run(ctx, io.MultiWriter(&console, record))
		close(ended)
	}()
	t.Cleanup(func() {
		cut()
		<-ended
		if t.Failed() {
			t.Log(console.String())
		}
	})
	return func() { cut(); <-ended }
}

func await(t *testing.T, s *sleddtest.Sledd, phase api.Phase) api.Node {
	t.Helper()
	var node api.Node
	patience.Until(t, "the phase is "+string(phase), func() bool {
		node = s.Node(1)
		return node.Status.Phase == phase
	})
	return node
}

func fleet(t *testing.T) *sleddtest.Sledd {
	t.Helper()
	s := sleddtest.Start(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	return s
}

func TestFromBareToOperational(t *testing.T) {
	s := fleet(t)
	dir := t.TempDir()
	cut := machine(t, s, dir, "dmi: {vendor: Acme, product: One Two}\n")
	node := await(t, s, api.Operational)
	if !node.Binding.Satisfied || node.Facts == nil || node.Facts.DMI["vendor"].String() != "Acme" {
		t.Errorf("%+v, facts %v", node.Binding, node.Facts)
	}
	cut()
	machine(t, s, dir, "") // boots its disk: no second image
	time.Sleep(100 * time.Millisecond)
	if events := s.Node(1).Status; events.Phase != api.Operational {
		t.Errorf("after a power cycle: %+v", events)
	}
}

func TestFailsSoManyTimes(t *testing.T) {
	s := fleet(t)
	dir := t.TempDir()
	settings := "fail: {step: write, code: 6, times: 1, reason: no server}\n"
	cut := machine(t, s, dir, settings)
	if status := await(t, s, api.Failed).Status; status.Code != 6 || status.Reason.String() != "no server" {
		t.Errorf("%+v", status)
	}
	cut()
	machine(t, s, dir, settings)
	await(t, s, api.Operational)
}

func TestHoldsAStep(t *testing.T) {
	s := fleet(t)
	dir := t.TempDir()
	hold := filepath.Join(dir, strings.ReplaceAll(sleddtest.MAC(1), ":", "-")+".hold")
	if err := os.WriteFile(hold, []byte("write"), 0o600); err != nil {
		t.Fatal(err)
	}
	machine(t, s, dir, "")
	await(t, s, api.Writing)
	time.Sleep(100 * time.Millisecond) // five times what a step takes
	await(t, s, api.Writing)
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	await(t, s, api.Operational)
}

func TestHangsAtKexec(t *testing.T) {
	s := fleet(t)
	dir := t.TempDir()
	cut := machine(t, s, dir, "hang_at_kexec: 1\n")
	await(t, s, api.Starting)
	time.Sleep(100 * time.Millisecond)
	await(t, s, api.Starting)
	cut()
	machine(t, s, dir, "hang_at_kexec: 1\n") // its disk
	await(t, s, api.Operational)
}

func TestSettingsAreChecked(t *testing.T) {
	dir := t.TempDir()
	if _, err := double.Open(dir, sleddtest.MAC(1)); err == nil || !strings.Contains(err.Error(), "server is not set") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "defaults.yaml"), []byte("sever: http://x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := double.Open(dir, sleddtest.MAC(1)); err == nil || !strings.Contains(err.Error(), "sever") {
		t.Error(err)
	}
}
