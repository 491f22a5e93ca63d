// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// OverdueSince is when the node became overdue, or will: it stands still longer than its phase allows. A rescue, a
// job and a phase without a limit are never overdue: then it is zero.
func (s Status) OverdueSince() time.Time {
	limit := s.Phase.Limit()
	if limit == 0 || s.Since.IsZero() {
		return time.Time{}
	}
	last := s.Since
	if s.Phase.Working() && s.Moved.After(last) {
		last = s.Moved
	}
	return last.Add(limit)
}

// OverdueAt is for how long the node has been overdue at a time; 0: it is not.
func (s Status) OverdueAt(now time.Time) time.Duration {
	since := s.OverdueSince()
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since))
}
