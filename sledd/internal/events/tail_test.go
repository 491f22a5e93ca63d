// SPDX-License-Identifier: Apache-2.0

package events

import (
	"fmt"
	"testing"
)

func records(ids ...int64) []Record {
	list := make([]Record, len(ids))
	for i, id := range ids {
		list[i] = Record{ID: id, MAC: []string{"even", "odd"}[id%2]}
	}
	return list
}

func ids(list []Record) string {
	text := ""
	for _, record := range list {
		text += fmt.Sprint(record.ID, " ")
	}
	return text
}

func TestTailGivesWhatCameAfterAnEvent(t *testing.T) {
	tail := tail{size: 100}
	tail.restart(4)
	tail.add(records(5, 6, 6))
	tail.add(records(9))
	for _, c := range []struct {
		after int64
		node  string
		want  string
		held  bool
	}{
		{3, "", "", false}, {4, "", "5 6 6 9 ", true}, {5, "", "6 6 9 ", true}, {6, "", "9 ", true}, {7, "", "9 ", true},
		{9, "", "", true}, {12, "", "", true}, {4, "odd", "5 9 ", true}, {5, "even", "6 6 ", true}, {4, "none", "", true},
	} {
		got, held := tail.since(c.after, c.node)
		if ids(got) != c.want || held != c.held {
			t.Errorf("after %d of %q: %s%t, want %s%t", c.after, c.node, ids(got), held, c.want, c.held)
		}
	}
}

func TestTailIsBoundedAndDropsWholeRevisions(t *testing.T) {
	tail := tail{size: 8}
	for id := range int64(100) {
		tail.add(records(id, id))
		if len(tail.records) > 12 {
			t.Fatalf("%d records are held", len(tail.records))
		}
		if first := tail.records[0].ID; id > 20 && tail.after != first-1 {
			t.Fatalf("the first record is of revision %d, complete after %d", first, tail.after)
		}
	}
	if _, held := tail.since(10, ""); held {
		t.Error("revision 11 was dropped, and is said to be held")
	}
	if list, held := tail.since(97, ""); !held || ids(list) != "98 98 99 99 " {
		t.Errorf("%s%t", ids(list), held)
	}
}

func TestWhatAListenerGotIsNotChangedByLaterEvents(t *testing.T) {
	tail := tail{size: 4}
	tail.add(records(1, 2))
	got, _ := tail.since(0, "")
	_ = append(got, Record{ID: 77})
	tail.add(records(3))
	if list, _ := tail.since(0, ""); ids(list) != "1 2 3 " || ids(got) != "1 2 " {
		t.Errorf("%s, %s", ids(list), ids(got))
	}
}
