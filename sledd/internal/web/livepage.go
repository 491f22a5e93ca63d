// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// advance makes a page and sends what changed. A page that is gone ends; without an answer of the store, nothing is
// sent, and browsers say since when.
func (w *Web) advance(of *feed) {
	now := w.Fleet.Now()
	state, err := w.state(of, now)
	w.live.mu.Lock()
	defer w.live.mu.Unlock()
	if _, gone := errors.AsType[*refusal.Error](err); gone {
		for one := range of.viewers {
			of.drop(one)
		}
	}
	if err != nil {
		return
	}
	whole, changed := message{Time: now, Clock: clock(now)}, message{Time: now, Clock: clock(now)}
	changed.Lines, changed.Cells = patch(of.last.lines, state.lines), changes(of.last.cells, state.cells)
	whole.Lines, whole.Cells = patch(nil, state.lines), state.cells
	of.last = state
	of.send(changed, whole)
}

// send sends to each tab what it lacks.
func (f *feed) send(changed, whole message) {
	var texts [2][]byte
	for one := range f.viewers {
		which, of := 0, changed
		if !one.begun {
			which, of = 1, whole
		}
		if texts[which] == nil {
			texts[which], _ = json.Marshal(of) // of strings and numbers
		}
		select {
		case one.messages <- texts[which]:
			one.begun = true
		default:
			f.drop(one)
		}
	}
}

func (f *feed) drop(one *viewer) {
	close(one.messages)
	delete(f.viewers, one)
}

// state makes a page. Its ages are those of a time in steps.
func (w *Web) state(of *feed, now time.Time) (shownState, error) {
	ctx, cancel := context.WithTimeout(w.Stopping, answerTime)
	defer cancel()
	asked := of.ask
	asked.Request, asked.Now = asked.WithContext(ctx), now.Truncate(ageStep)
	shown, err := w.read(of.view, asked, now)
	if err != nil {
		return shownState{}, err
	}
	shown.Streamed = true
	var text bytes.Buffer
	if err := templates[shown.View].ExecuteTemplate(&text, "main", shown); err != nil {
		w.Log.Error("page failed", "view", shown.View, "error", err)
		return shownState{}, err //nolint:wrapcheck // is only compared
	}
	state := shownState{lines: strings.Split(nodetext.Lines(text.String()), "\n")}
	if has, found := shown.Body.(grid); found {
		state.cells = has.cells()
	}
	return state, nil
}

// patch describes lines by those of an older text: [first, count] are lines of that, a text is a new one. Nil: the
// lines are the same.
func patch(old, fresh []string) []any {
	at := make(map[string]int, len(old))
	for i, line := range old {
		at[line] = i
	}
	var list []any
	next := 0 // in old
	for i := 0; i < len(fresh); {
		if next >= len(old) || old[next] != fresh[i] {
			found, known := at[fresh[i]]
			if !known {
				list = append(list, fresh[i])
				i++
				next++
				continue
			}
			next = found
		}
		first := next
		for i < len(fresh) && next < len(old) && old[next] == fresh[i] {
			i++
			next++
		}
		list = append(list, [2]int{first, next - first})
	}
	if len(list) == 1 && len(old) > 0 && list[0] == [2]int{0, len(old)} {
		return nil
	}
	return list
}

// changes are the cells that are new or differ.
func changes(old, fresh map[string]cell) map[string]cell {
	changed := map[string]cell{}
	for address, now := range fresh {
		if old[address] != now {
			changed[address] = now
		}
	}
	return changed
}
