// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"bytes"
	"sync"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// decoded keeps the runs of the rollout that was read last: each report on a node reads all of them, and decoding
// hundreds takes ten times as long as reading them. A value that is stored now is decoded once.
type decoded struct {
	mu   sync.Mutex
	runs map[string]decodedRun // by key
}

type decodedRun struct {
	value []byte
	run   storedRun
}

// read returns runs by MAC. Callers share what they point to, and do not change it.
func (d *decoded) read(kvs []store.KV) (map[string]storedRun, error) {
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
