// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

func TestWatchesFitTheTerminal(t *testing.T) {
	for _, width := range ctltest.Widths {
		golden := ctltest.Transcript{}
		var out ctltest.Buffer
		v := &liveView{Printer: show.Printer{Out: &out, Now: ctltest.Now, Screen: ctltest.Terminal(width)},
			begin: ctltest.Noon}
		v.Draw(ctltest.Hall(), nil)
		drawn := strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(out.String())
		ctltest.CheckWidth(t, "watch", drawn, width)
		golden.Add("watch", drawn)

		r := ctltest.HallRollout()
		r.State, r.Reason = api.RolloutRunning, api.Prose{}
		var rolloutOut ctltest.Buffer
		live := &rolloutLive{liveView: liveView{Printer: show.Printer{Out: &rolloutOut, Now: ctltest.Now,
			Screen: ctltest.Terminal(width)}}}
		live.show(r, ctltest.Hall()[1:2], nil)
		drawn = strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(rolloutOut.String())
		ctltest.CheckWidth(t, "rollout watch", drawn, width)
		golden.Add("rollout watch", drawn)
		golden.At(t, width, "drawn")
	}
}

func TestCaptureIsDrawn(t *testing.T) {
	n := ctltest.Node(1, api.Capturing, 0)
	n.Status.Progress = &api.Progress{Bytes: 1_000_000_000, Total: 2_000_000_000, Rate: 100_000_000}
	live := &liveView{Printer: show.Printer{Now: func() time.Time { return ctltest.Noon }}}
	if got := live.note(n, 60); !strings.Contains(got, show.BarFull) || !strings.Contains(got, "50%") ||
		!strings.Contains(got, "0:10 left") {
		t.Errorf("%q", got)
	}
}

// A person at a terminal of the usual size: reasons are read, nothing is wider or higher than the screen, and nothing
// is blank twice.
func TestRolloutWatchFits(t *testing.T) {
	r := ctltest.Friday()
	r.Runs[2].Reason = api.Clean("write: code 5 integrity: chunk 1042 is not as the index promises: " +
		"the image at http://10.0.0.1/images/debian-12-v2.raw.zst is damaged")
	many := ctltest.Ended()
	for i := range 20 {
		run := r.Runs[2]
		run.Node, run.End = fmt.Sprintf("rack-1-%02d", i), ctltest.Noon.Add(-time.Duration(i)*time.Second)
		many.Runs = append(many.Runs, run)
	}
	var seen strings.Builder
	for _, r := range []api.Rollout{r, many} {
		for _, size := range [][2]int{{60, 12}, {80, 24}, {120, 24}} {
			var out ctltest.Buffer
			screen := show.Screen{Terminal: true, Size: func() (int, int) { return size[0], size[1] }}
			v := &rolloutLive{liveView: liveView{Printer: show.Printer{Out: &out, Now: ctltest.Now, Screen: screen}}}
			v.show(r, ctltest.Rack()[1:2][:r.Counts.Running], nil)
			drawn := strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(out.String())
			rows := strings.Split(drawn, "\n")
			if len(rows) > size[1] || strings.Contains(drawn, "\n\n\n") || strings.HasSuffix(drawn, "\n\n") {
				t.Errorf("%d rows in %d:\n%s", len(rows), size[1], drawn)
			}
			for _, row := range rows {
				if ctltest.Cells(row) >= size[0] {
					t.Errorf("%d cells in %d: %q", ctltest.Cells(row), size[0], row)
				}
			}
			fmt.Fprintf(&seen, "--- %d x %d\n%s", size[0], size[1], drawn)
		}
	}
	ctltest.Golden(t, "rollout-watch-sizes", seen.String())
}

func TestWatchDrawsOverItself(t *testing.T) {
	screen := show.Screen{Terminal: true, Size: func() (int, int) { return 110, 24 }}
	nodes := ctltest.Rack()
	var out ctltest.Buffer
	v := &liveView{Printer: show.Printer{Out: &out, Now: ctltest.Now, Screen: screen},
		begin: ctltest.Noon.Add(-time.Minute)}
	v.Draw(nodes, nil)
	v.Draw(nodes[:2], errors.New("the store does not answer"))
	v.Draw(nil, nil)
	ctltest.Golden(t, "watch-live", strings.ReplaceAll(out.String(), "\x1b", "ESC"))
}

func TestRowsFitTheScreen(t *testing.T) {
	nodes := ctltest.Rack()
	nodes = append(nodes, nodes...)
	for _, width := range []int{40, 60, 80, 120, 200} {
		v := &liveView{Printer: show.Printer{Now: ctltest.Now, Screen: show.Screen{Colour: true}}}
		for _, room := range []int{1, 4, 40} {
			rows := v.rows(nodes, width, room)
			if len(rows) > max(room, 2) {
				t.Errorf("%d rows in %d", len(rows), room)
			}
			for _, row := range rows {
				if cells := ctltest.Cells(row); cells > width {
					t.Errorf("%d cells in %d: %q", cells, width, row)
				}
			}
		}
	}
	v := &liveView{Printer: show.Printer{Now: ctltest.Now}}
	if rows := v.rows(nodes, 80, 4); !strings.Contains(rows[0], "failed") || rows[3] != "and 9 more" {
		t.Errorf("what matters is not shown first: %q", rows)
	}
}
