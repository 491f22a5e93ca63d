// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strings"
	"testing"
	"time"
)

func TestTheWaitForADataDirectoryEnds(t *testing.T) {
	dir := t.TempDir()
	first, err := lock(t.Context(), dir, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	waited := 0
	_, err = lock(t.Context(), dir, time.Nanosecond, func() { waited++ })
	if err == nil || !strings.Contains(err.Error(), "another process still has it") || waited != 1 {
		t.Fatalf("got %v after %d words about it", err, waited)
	}
}
