// SPDX-License-Identifier: Apache-2.0

package events

import "sort"

// Record is an event as it is sent: encoded once, for however many follow.
type Record struct {
	ID   int64
	MAC  string
	Data []byte // the event in JSON
}

// tail holds the newest events of all nodes, so that a stream can be resumed without searching the store.
type tail struct {
	size    int      // records that it holds at least, once there were so many
	after   int64    // all events after this revision are held
	records []Record // by ID
}

// restart forgets everything: what happened up to a revision is not held.
func (t *tail) restart(after int64) { t.after, t.records = after, nil }

// add takes the events of whole revisions.
func (t *tail) add(records []Record) {
	t.records = append(t.records, records...)
	surplus := len(t.records) - t.size
	if surplus < t.size/4+1 { // not each time: what is kept is copied
		return
	}
	for surplus < len(t.records) && t.records[surplus].ID == t.records[surplus-1].ID {
		surplus++
	}
	t.after = t.records[surplus-1].ID
	t.records = append([]Record(nil), t.records[surplus:]...)
}

// since returns the events after a revision, of a node or (empty) of all; false when some of them
// are no longer held.
func (t *tail) since(after int64, node string) ([]Record, bool) {
	if after < t.after {
		return nil, false
	}
	first := sort.Search(len(t.records), func(i int) bool { return t.records[i].ID > after })
	return ofNode(t.records[first:], node), true
}

// ofNode returns the records of a node, or (empty) all of them.
func ofNode(records []Record, node string) []Record {
	if node == "" {
		return records[:len(records):len(records)]
	}
	var mine []Record
	for _, record := range records {
		if record.MAC == node {
			mine = append(mine, record)
		}
	}
	return mine
}
