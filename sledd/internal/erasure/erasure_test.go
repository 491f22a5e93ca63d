// SPDX-License-Identifier: Apache-2.0

package erasure

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

var (
	private = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	public  = private.Public().(ed25519.PublicKey) //nolint:forcetypeassert // it is
)

func record(serial string) api.Erasure {
	return api.Erasure{Time: time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC), Node: "n1", MAC: "52:54:00:77:00:01",
		Generation: 3, BootID: nodetext.CleanIdentifier("b"), Step: 1, Admission: "expected", Result: "good",
		Disk: nodetext.CleanIdentifier("sda"), Serial: nodetext.CleanIdentifier(serial), Bytes: 1 << 40, Sector: 512,
		Level: "empty", Method: "discard", Verify: "sample", Read: 37748736, Samples: 1024,
		Seed: strings.Repeat("0a", 32), Seconds: 1.25, Reason: nodetext.Clean(`<b> "é"`)}
}

func appended(t *testing.T, chain *Chain, records ...api.Erasure) {
	t.Helper()
	var writes store.Transaction
	if err := chain.Append(t.Context(), &writes, records); err != nil {
		t.Fatal(err)
	}
	if _, err := chain.store.Commit(t.Context(), writes); err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, chain *Chain) []byte {
	t.Helper()
	list, err := chain.List(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Export(list)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAChainIsKeptAndVerified(t *testing.T) {
	chain := New(&storetest.Memory{}, private)
	if count, err := Verify(export(t, chain), public); err != nil || count != 0 {
		t.Errorf("no record: %d, %v", count, err)
	}
	appended(t, chain, record("A"), record("B"))
	appended(t, chain, record("C"))
	if count, err := Verify(export(t, chain), public); err != nil || count != 3 {
		t.Errorf("%d, %v\n%s", count, err, export(t, chain))
	}
	page, err := chain.List(t.Context(), 1, 1)
	if err != nil || len(page.Items) != 1 || page.Items[0].Serial.String() != "B" || page.Head.Number != 3 {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestEveryChangedByteIsFound in each record, in the head, and in what lies between.
func TestEveryChangedByteIsFound(t *testing.T) {
	chain := New(&storetest.Memory{}, private)
	appended(t, chain, record("A"), record("B"))
	text, runs := export(t, chain), 0
	for i := range text {
		for _, mask := range []byte{0x01, 0x20, 0x80} {
			changed := bytes.Clone(text)
			changed[i] ^= mask
			runs++
			if _, err := Verify(changed, public); err == nil {
				t.Errorf("byte %d as %q: not found", i, changed[max(0, i-20):min(len(changed), i+20)])
			}
		}
	}
	t.Logf("%d changes of %d bytes were found", runs, len(text))
}

func TestEveryRecordThatIsMissingIsFound(t *testing.T) {
	chain := New(&storetest.Memory{}, private)
	for i := range 5 {
		appended(t, chain, record(fmt.Sprintf("D%d", i)))
	}
	lines := bytes.SplitAfter(export(t, chain), []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		without := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...))
		if _, err := Verify(without, public); err == nil {
			t.Errorf("line %d taken out: not found", i+1)
		}
		twice := slices.Concat(slices.Concat(lines[:i+1]...), slices.Concat(lines[i:]...))
		if _, err := Verify(twice, public); err == nil {
			t.Errorf("line %d twice: not found", i+1)
		}
	}
	if _, err := Verify(slices.Concat(lines[1], lines[0], slices.Concat(lines[2:]...)), public); err == nil {
		t.Error("another order: not found")
	}
}

func TestOtherKeysAreRefused(t *testing.T) {
	unsigned := New(&storetest.Memory{}, nil)
	appended(t, unsigned, record("A"))
	if _, err := Verify(export(t, unsigned), public); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("unsigned: %v", err)
	}
	other := New(&storetest.Memory{}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	appended(t, other, record("A"))
	if _, err := Verify(export(t, other), public); err == nil {
		t.Error("the signature of another key is accepted")
	}
}

func TestKeysAreReadAndWritten(t *testing.T) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	read, err := ParsePrivate(text)
	if err != nil || !read.Equal(private) {
		t.Error(err)
	}
	if half, err := ParsePublic([]byte(PublicPEM(private))); err != nil || !half.Equal(public) {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", string(text[:40]), PublicPEM(private)} {
		if _, err := ParsePrivate([]byte(bad)); err == nil {
			t.Errorf("%q is a private key", bad)
		}
	}
	if _, err := ParsePublic(text); err == nil {
		t.Error("a private key is a public one")
	}
}

// TestSeveralSleddKeepOneChain: each appends under the others, and tries again if another was first.
func TestSeveralSleddKeepOneChain(t *testing.T) {
	memory := &storetest.Memory{}
	var all sync.WaitGroup
	for sledd := range 4 {
		chain := New(memory, private)
		for report := range 25 {
			all.Go(func() {
				release, err := chain.Turn(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				for {
					var writes store.Transaction
					if err := chain.Append(t.Context(), &writes,
						[]api.Erasure{record(fmt.Sprint(sledd)), record(fmt.Sprint(report))}); err != nil {
						t.Error(err)
						return
					}
					_, err := memory.Commit(t.Context(), writes)
					if err == nil {
						return
					}
					if !errors.Is(err, store.ErrChanged) {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	if count, err := Verify(export(t, New(memory, private)), public); err != nil || count != 200 {
		t.Errorf("%d records, %v", count, err)
	}
}

// TestWhatADriveReported is in the record, and records without it keep their bytes.
func TestWhatADriveReported(t *testing.T) {
	plain, purged := record("S"), record("S")
	purged.Level, purged.Method = "purge", "nvme-sanitize-crypto"
	purged.Reported, purged.Compared = nodetext.CleanIdentifier("log"), 9216
	before, err := Encode(plain)
	if err != nil || bytes.Contains(before, []byte("reported")) || bytes.Contains(before, []byte("compared")) {
		t.Fatalf("a record of a wipe by writing has other bytes than before: %s, %v", before, err)
	}
	line, err := Encode(purged)
	if err != nil || !bytes.Contains(line, []byte(`"reported":"log","compared":9216`)) {
		t.Fatalf("%s, %v", line, err)
	}
	var again api.Erasure
	if err := strict(line, &again); err != nil {
		t.Fatal(err)
	}
}
