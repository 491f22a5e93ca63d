// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"bytes"
	"sync"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// decoded keeps the rollout that was read last, and its runs: each report on a node reads them, and to decode hundreds
// of nodes takes ten times as long as to read them. A value that is stored now is decoded once.
type decoded struct {
	mu      sync.Mutex
	value   []byte // of the rollout
	rollout storedRollout
	runs    map[string]decodedRun // by key
}

type decodedRun struct {
	value []byte
	run   storedRun
}

// readRollout returns a rollout. Callers share its lists, and do not change them.
func (d *decoded) readRollout(kv store.KV) (*storedRollout, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.value == nil || !bytes.Equal(d.value, kv.Value) {
		read, err := readRollout(kv)
		if err != nil {
			return nil, err
		}
		d.value, d.rollout = kv.Value, *read
	}
	found := d.rollout
	found.revision = kv.Revision
	return &found, nil
}

// readRuns returns runs by MAC. Callers share what they point to, and do not change it.
func (d *decoded) readRuns(kvs []store.KV) (map[string]storedRun, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, runs := make(map[string]decodedRun, len(kvs)), make(map[string]storedRun, len(kvs))
	for _, kv := range kvs {
		one, known := d.runs[kv.Key]
		if !known || !bytes.Equal(one.value, kv.Value) {
			run, err := readRun(kv)
			if err != nil {
				return nil, err
			}
			one = decodedRun{kv.Value, run}
		}
		one.run.revision = kv.Revision
		kept[kv.Key], runs[one.run.MAC] = one, one.run
	}
	d.runs = kept
	return runs, nil
}
