// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

const (
	// alarmPause is the shortest time between two events of one kind of alarm and one address.
	alarmPause = 10 * time.Minute
	// alarmAddresses is how many addresses of one kind a node keeps.
	alarmAddresses = 8
)

// Alarm is one that no operator has acknowledged.
type Alarm struct {
	Kind    Kind           `json:"kind"`
	Address string         `json:"address,omitempty"` // empty: of the node, or of more addresses than are kept
	Detail  nodetext.Prose `json:"detail"`            // of the newest
	Since   time.Time      `json:"since"`
	Last    time.Time      `json:"last"`
	Raised  time.Time      `json:"raised"` // when it was an event last
	Count   int64          `json:"count"`
}

// Raise counts an alarm of a kind and an address, and reports whether it is to be an event.
func (s *State) Raise(kind Kind, address string, detail nodetext.Prose, now time.Time) (event bool) {
	s.Alarms = slices.Clone(s.Alarms)
	alarm := s.alarm(kind, address)
	if alarm == nil && s.alarmsOf(kind) >= alarmAddresses {
		address = ""
		alarm = s.alarm(kind, address)
	}
	if alarm == nil {
		s.Alarms = append(s.Alarms, Alarm{Kind: kind, Address: address, Since: now})
		alarm = &s.Alarms[len(s.Alarms)-1]
	}
	alarm.Detail, alarm.Last = detail, now
	alarm.Count++
	if event = alarm.Count == 1 || !now.Before(alarm.Raised.Add(alarmPause)); event {
		alarm.Raised = now
	}
	return event
}

func (s *State) alarm(kind Kind, address string) *Alarm {
	i := slices.IndexFunc(s.Alarms, func(alarm Alarm) bool { return alarm.Kind == kind && alarm.Address == address })
	if i < 0 {
		return nil
	}
	return &s.Alarms[i]
}

// alarmsOf counts the alarms of a kind.
func (s *State) alarmsOf(kind Kind) int {
	count := 0
	for _, alarm := range s.Alarms {
		if alarm.Kind == kind {
			count++
		}
	}
	return count
}

// Acknowledge ends the alarms that were counted last at a time or before, and returns them.
func (s *State) Acknowledge(until time.Time) []Alarm {
	var ended, rest []Alarm
	for _, alarm := range s.Alarms {
		if alarm.Last.After(until) {
			rest = append(rest, alarm)
		} else {
			ended = append(ended, alarm)
		}
	}
	s.Alarms = rest
	return ended
}
