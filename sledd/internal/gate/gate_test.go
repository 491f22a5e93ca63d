// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	wait "github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// full takes all places of a gate.
func full(t *testing.T) (g *Gate, leaves []func()) {
	t.Helper()
	g = New()
	for range places {
		leave, err := g.Enter(t.Context(), Progress)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	return g, leaves
}

func (g *Gate) count(of Class) (waiting, refused int) {
	g.Each(func(class string, waits, refuses int) {
		if class == of.String() {
			waiting, refused = waits, refuses
		}
	})
	return waiting, refused
}

func TestPlacesGoByClass(t *testing.T) {
	g, leaves := full(t)
	entered := make(chan Class)
	want := []Class{Step, Script, Claim, Transfer, Poll, Progress}
	g.took = 0 // nobody is refused at once
	for _, class := range slices.Backward(want) {
		go func() {
			leave, err := g.Enter(t.Context(), class)
			if err != nil {
				t.Errorf("%s: %v", class, err)
				return
			}
			entered <- class
			leave()
		}()
		wait.Until(t, class.String()+" waits", func() bool {
			waiting, _ := g.count(class)
			return waiting == 1
		})
	}
	leaves[0]()
	for _, class := range want {
		if got := <-entered; got != class {
			t.Errorf("%s has the place, want %s", got, class)
		}
	}
}

func TestARequestThatWouldWaitTooLongIsRefusedAtOnce(t *testing.T) {
	g, _ := full(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := g.Enter(ctx, Poll)
		ended <- err
	}()
	wait.Until(t, "a poll waits", func() bool {
		waiting, _ := g.count(Poll)
		return waiting == 1
	})
	g.took = places * (patience[Progress] + time.Second)
	var before *BusyError
	again := 0 // how often the times to come back start again
	for range 3 * longest / (patience[Progress] + time.Second) {
		var busy *BusyError
		if _, err := g.Enter(t.Context(), Progress); !errors.As(err, &busy) {
			t.Fatalf("got %v, want a BusyError", err)
		}
		if busy.After <= 0 || busy.After > longest {
			t.Errorf("to come back after %s, want at most %s", busy.After, longest)
		}
		if before != nil && busy.After <= before.After {
			again++
		}
		before = busy
	}
	if again < 2 || again > 3 {
		t.Errorf("30 refused requests: their times start again %d times", again)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the poll: %v", err)
	}
	if waiting, refused := g.count(Progress); waiting != 0 || refused != 30 {
		t.Errorf("%d wait, %d were refused", waiting, refused)
	}
}
