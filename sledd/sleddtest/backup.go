// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"bytes"
	"context"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Backup remembers what is stored now. The function that it returns makes the store the same again, as a site does with
// a backup after a loss: what was stored since is gone.
func (s *Sledd) Backup() (restore func()) {
	s.t.Helper()
	kept := s.records()
	return func() {
		s.t.Helper()
		s.Stop()
		now := s.records()
		var t store.Transaction
		for name := range now {
			if _, found := kept[name]; !found {
				t.Delete(name)
			}
		}
		for name, value := range kept {
			if !bytes.Equal(now[name], value) {
				t.Put(name, value)
			}
		}
		for all := t.Do; len(all) > 0; {
			part := all[:min(len(all), store.MaxOperations)]
			if _, err := s.options.Store.Commit(context.Background(), store.Transaction{Do: part}); err != nil {
				s.t.Fatal(err)
			}
			all = all[len(part):]
		}
		s.Resume()
	}
}

// records are all that is stored.
func (s *Sledd) records() map[string][]byte {
	s.t.Helper()
	snapshot, err := s.options.Store.Read(context.Background(), store.Prefix(key.Root))
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, kv := range snapshot.Results[0] {
		all[kv.Key] = kv.Value
	}
	return all
}
