// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"time"
)

// Rights of the sender of a request (contract/admission.md, "Rights").
type Rights struct {
	// Plan: it is the incumbent, at the required level: plan, report, log.
	Plan bool
	// Secrets: seed, upload, and the ends of captures and rescues.
	Secrets bool
	// Until is when secrets are no longer withheld by time alone; zero: that needs an event.
	Until time.Time
	// Reason that something is withheld.
	Reason string
}

// May returns the rights of a claim or incumbent after its request was applied by Step.
func (s State) May(id string, rules Rules, node Node, now time.Time) Rights {
	switch required := s.Required(node); {
	case s.Incumbent == nil || s.Incumbent.ID != id:
		return Rights{Reason: "the claim is not admitted"}
	case s.Incumbent.Level < required:
		return Rights{Reason: fmt.Sprintf("the node is admitted at level %s, and needs %s", s.Incumbent.Level, required)}
	case s.Incumbent.Level != Expected:
		return Rights{Plan: true, Secrets: true}
	case s.Incumbent.Contested && !rules.RivalAlarm:
		return Rights{Plan: true, Reason: "another machine claims to be the node"}
	}
	hold, why := rules.hold(node.Start)
	if until := s.Incumbent.HoldFrom.Add(hold); now.Before(until) {
		return Rights{Plan: true, Until: until, Reason: "another machine may claim to be the node" + why}
	}
	return Rights{Plan: true, Secrets: true}
}
