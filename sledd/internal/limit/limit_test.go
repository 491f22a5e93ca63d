// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"strconv"
	"testing"
	"time"
)

func TestBurstThenOnePerInterval(t *testing.T) {
	k, now := New(Rate{Burst: 3, Every: 10 * time.Second}), time.Now()
	for i, c := range []struct {
		key    string
		after  time.Duration
		amount int
		want   bool
	}{
		{"a", 0, 2, true}, {"a", 0, 2, false}, {"a", 0, 1, true}, {"a", 0, 1, false}, {"b", 0, 3, true},
		{"a", 9 * time.Second, 1, false}, {"a", time.Second, 1, true}, {"a", 0, 1, false},
		{"a", time.Hour, 3, true}, {"a", 0, 1, false}, {"c", 0, 4, false},
	} {
		now = now.Add(c.after)
		if got := k.Allow(c.key, now, c.amount); got != c.want {
			t.Errorf("%d: %s takes %d: %t", i, c.key, c.amount, got)
		}
	}
}

func TestKeysAreBounded(t *testing.T) {
	k, now := New(Rate{Burst: 1, Every: time.Second}), time.Now()
	k.most = 10
	for i := range 10 {
		k.Allow("early"+strconv.Itoa(i), now, 1)
	}
	now = now.Add(500 * time.Millisecond)
	k.Allow("late", now, 1) // none has its burst again: all are dropped
	if len(k.buckets) != 1 {
		t.Errorf("%d keys are held", len(k.buckets))
	}
	for i := range 9 {
		k.Allow("new"+strconv.Itoa(i), now.Add(600*time.Millisecond), 1)
	}
	now = now.Add(1100 * time.Millisecond)
	k.Allow("last", now, 1) // late has its burst again
	if _, held := k.buckets["late"]; held || len(k.buckets) != 10 {
		t.Errorf("late is held: %t, of %d", held, len(k.buckets))
	}
}
