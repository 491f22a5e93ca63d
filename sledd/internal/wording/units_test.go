// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestTimes(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{0: "0:00", 59 * time.Second: "0:59", 3725 * time.Second: "1:02:05",
		-time.Second: "0:00"} {
		if got := Clock(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		47 * time.Hour: "47h", 48 * time.Hour: "2d"} {
		if got := Age(noon, noon.Add(-d)); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	if got := Age(noon, time.Time{}); got != "" {
		t.Errorf("never: %q", got)
	}
	for _, p := range []api.Progress{{Bytes: 1, Total: 2}, {Bytes: 2, Total: 2, Rate: 1}, {Bytes: 2, Rate: 1}} {
		if got := TimeLeft(&p); got != "" {
			t.Errorf("%+v: nobody can know %q", p, got)
		}
	}
}
