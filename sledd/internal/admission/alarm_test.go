// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// raised counts an alarm, and reports whether it is an event.
func raised(s *admission.State, kind admission.Kind, address string, after time.Duration) bool {
	return s.Raise(kind, address, nodetext.Clean(fmt.Sprint("after ", after)), epoch.Add(after))
}

func TestAlarmsOfOneAddressAreCounted(t *testing.T) {
	var s admission.State
	for _, c := range []struct {
		minute int
		event  bool
	}{{0, true}, {1, false}, {9, false}, {10, true}, {11, false}, {19, false}, {20, true}} {
		after := time.Duration(c.minute) * time.Minute
		if got := raised(&s, admission.RivalAlarm, "192.0.2.1", after); got != c.event {
			t.Errorf("after %s: event %t", after, got)
		}
	}
	if !raised(&s, admission.RivalAlarm, "192.0.2.2", 0) || !raised(&s, admission.LinkAlarm, "192.0.2.1", 0) {
		t.Error("another address and another kind are other alarms")
	}
	first := s.Alarms[0]
	if len(s.Alarms) != 3 || first.Count != 7 || !first.Since.Equal(epoch) ||
		!first.Last.Equal(epoch.Add(20*time.Minute)) || first.Detail.String() != "after 20m0s" {
		t.Errorf("%+v", s.Alarms)
	}
}

// A neighbour may use any number of addresses: neither the record nor the events grow with them.
func TestAlarmsOfManyAddressesAreOne(t *testing.T) {
	var s admission.State
	events := 0
	for i := range 10_000 {
		if raised(&s, admission.LinkAlarm, fmt.Sprintf("10.0.%d.%d", i/256, i%256), time.Second) {
			events++
		}
	}
	if len(s.Alarms) != 9 || events != 9 || s.Alarms[8].Address != "" || s.Alarms[8].Count != 10_000-8 {
		t.Errorf("%d events, %+v", events, s.Alarms)
	}
	if !raised(&s, admission.RivalAlarm, "192.0.2.1", time.Second) || s.Alarms[9].Address != "192.0.2.1" {
		t.Error("alarms of one kind hide those of another")
	}
}

func TestAnAcknowledgementLeavesWhatCameAfterIt(t *testing.T) {
	var s admission.State
	raised(&s, admission.RivalAlarm, "192.0.2.1", 0)
	raised(&s, admission.LinkAlarm, "192.0.2.2", 0)
	before := s
	raised(&s, admission.RivalAlarm, "192.0.2.1", time.Second) // after the operator has read the alarms
	if ended := s.Acknowledge(epoch); len(ended) != 1 || ended[0].Kind != admission.LinkAlarm || len(s.Alarms) != 1 {
		t.Errorf("ended: %+v, left: %+v", ended, s.Alarms)
	}
	if before.Alarms[0].Count != 1 {
		t.Error("an earlier state was changed")
	}
	if ended := s.Acknowledge(epoch); len(ended) != 0 {
		t.Errorf("sent again: %+v", ended)
	}
	s.Acknowledge(epoch.Add(time.Second))
	if len(s.Alarms) != 0 || !raised(&s, admission.RivalAlarm, "192.0.2.1", time.Minute) {
		t.Error("what is raised after an acknowledgement is a new alarm")
	}
}
