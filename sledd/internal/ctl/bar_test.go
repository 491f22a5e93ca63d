// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
)

func noonNow() time.Time { return noon }

func cells(row string) int { return text.StringWidthWithoutEscSequences(row) }

func TestBar(t *testing.T) {
	for _, test := range []struct {
		done, total int64
		want        string
	}{{0, 8, "────"}, {4, 8, "━━──"}, {8, 8, "━━━━"}, {9, 8, "━━━━"},
		{-1, 8, "────"}, {5, 0, "────"}, {1 << 50, 1 << 50, "━━━━"}} {
		if got := bar(test.done, test.total, 4); got != test.want {
			t.Errorf("%d of %d: %s, want %s", test.done, test.total, got, test.want)
		}
	}
}

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0:00", 59 * time.Second: "0:59", 3725 * time.Second: "1:02:05",
		-time.Second: "0:00"} {
		if got := clock(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		47 * time.Hour: "47h", 48 * time.Hour: "2d"} {
		if got := age(noon, noon.Add(-d)); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	if got := age(noon, time.Time{}); got != "" {
		t.Errorf("never: %q", got)
	}
	for _, p := range []api.Progress{{Bytes: 1, Total: 2}, {Bytes: 2, Total: 2, Rate: 1}, {Bytes: 2, Rate: 1}} {
		if got := timeLeft(&p); got != "" {
			t.Errorf("%+v: nobody can know %q", p, got)
		}
	}
}

func TestStageBarsStayInside(t *testing.T) {
	line := timeline()
	line.Stages = append(line.Stages, api.Stage{Name: "late", Begin: noon.Add(time.Hour), Seconds: 99},
		api.Stage{Begin: noon.Add(-time.Hour), Seconds: 1e9})
	for _, stage := range line.Stages {
		before, length := stageBar(line, stage, 50)
		if before < 0 || length < 1 || before+length > 50 {
			t.Errorf("%s: %d cells after %d", stage.Name, length, before)
		}
	}
	if before, length := stageBar(api.Timeline{}, line.Stages[0], 50); before != 0 || length != 0 {
		t.Errorf("a run of no time: %d, %d", before, length)
	}
}
