// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mirror"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/seal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// maxAttempts of a change when others are first each time.
	maxAttempts = 16
	// budget of all store calls of one operation: an answer comes within 5 s whatever the store does.
	budget = 4500 * time.Millisecond
)

// DB makes units of work on a store.
type DB struct {
	Store  store.Store
	Clock  func() time.Time     // nil: the real clock
	Policy Policy               // of admissions
	Box    *seal.Box            // for user data; nil: it is stored in clear
	Kexec  func(outcome string) // counts outcomes of kexecs that were committed; may be nil

	rows   *mirror.Mirror[Tx] // of lists; nil: the store is read
	models *mirror.Mirror[string]
}

// Now returns the time as it is stored.
func (db *DB) Now() time.Time {
	if db.Clock == nil {
		return time.Now().UTC().Round(0)
	}
	return db.Clock().UTC().Round(0)
}

// Load reads the Core records of a node and those that are wanted beside them, all at one revision.
func (db *DB) Load(ctx context.Context, mac string, wants ...Want) (*Tx, error) {
	return db.load(ctx, mac, append(wantsOf(Core), wants...)...)
}

// wantsOf returns records as what is wanted.
func wantsOf(kinds []Kind) []Want {
	wants := make([]Want, len(kinds))
	for i, kind := range kinds {
		wants[i] = kind
	}
	return wants
}

func (db *DB) load(ctx context.Context, mac string, wants ...Want) (*Tx, error) {
	loaded, err := db.LoadEach(ctx, []string{mac}, func(int) []Want { return wants })
	if err != nil {
		return nil, err
	}
	return loaded[0].Tx, loaded[0].Err
}

// Loaded is the unit of work on one of many nodes, or why one of its records cannot be read.
type Loaded struct {
	*Tx
	Err error
}

// LoadEach reads what is wanted of each of many nodes, all at one revision.
func (db *DB) LoadEach(ctx context.Context, macs []string, wants func(i int) []Want) ([]Loaded, error) {
	list, wanted := make([]Loaded, len(macs)), make([][]Want, len(macs))
	queries := []store.Query{store.Key(key.Fleet)}
	for i, address := range macs {
		tx := newTx(address, db.Now())
		tx.sender.Origin = origin.Of(ctx)
		list[i].Tx, wanted[i] = tx, wants(i)
		for _, want := range wanted[i] {
			queries = append(queries, want.query(tx))
		}
	}
	snapshot, err := db.Store.Read(ctx, queries...)
	if err != nil {
		return nil, err
	}
	identity, err := readIdentity(snapshot)
	if err != nil {
		return nil, err
	}
	at := 1
	for i := range list {
		tx := list[i].Tx
		tx.Revision, tx.identity = snapshot.Revision, identity
		for j, want := range wanted[i] {
			if err := want.load(tx, queries[at+j], snapshot.Results[at+j]); err != nil {
				list[i].Err = err
				break
			}
		}
		tx.bindingRevision()
		at += len(wanted[i])
	}
	return list, nil
}

// bindingRevision adds to a binding what is not stored in it.
func (tx *Tx) bindingRevision() {
	if binding := tx.binding.value; binding != nil {
		binding.Revision = tx.binding.Revision()
	}
}

// LoadMany reads some records of many nodes at one revision.
func (db *DB) LoadMany(ctx context.Context, macs []string, kinds ...Kind) ([]*Tx, error) {
	wants := wantsOf(kinds)
	loaded, err := db.LoadEach(ctx, macs, func(int) []Want { return wants })
	if err != nil {
		return nil, err
	}
	list := make([]*Tx, len(loaded))
	for i, one := range loaded {
		if one.Err != nil {
			return nil, one.Err
		}
		list[i] = one.Tx
	}
	return list, nil
}

// listed is the records that lists show; a MAC that has one of them is in the list.
var listed = []Kind{Node, Status, BindingOf, DetourOf, AdmissionOf}

// Page reads the next limit MACs after one, at one revision. Each of the first limit keys of the
// union is among the first limit keys of the lists it is in, so bounded reads are enough.
func (db *DB) Page(ctx context.Context, after string, limit int64) (page []*Tx, more bool, err error) {
	queries := make([]store.Query, 1+len(listed))
	queries[0] = store.Key(key.Fleet)
	for i, kind := range listed {
		queries[1+i] = store.Query{Key: prefixes[kind] + after + "\x00", To: store.PrefixEnd(prefixes[kind]),
			Limit: limit + 1}
	}
	snapshot, err := db.Store.Read(ctx, queries...)
	if err != nil {
		return nil, false, err
	}
	identity, err := readIdentity(snapshot)
	if err != nil {
		return nil, false, err
	}
	found, now := map[string]*Tx{}, db.Now()
	for i, kind := range listed {
		for _, kv := range snapshot.Results[1+i] {
			address := strings.TrimPrefix(kv.Key, prefixes[kind])
			if found[address] == nil {
				found[address] = emptyRow(address, now, snapshot.Revision)
				found[address].identity = identity
			}
			if err := found[address].slot(kind).load(kv.Key, []store.KV{kv}); err != nil {
				return nil, false, err
			}
		}
	}
	for _, tx := range found {
		tx.bindingRevision()
		page = append(page, tx)
	}
	slices.SortFunc(page, func(a, b *Tx) int { return strings.Compare(a.MAC, b.MAC) })
	if int64(len(page)) > limit {
		return page[:limit], true, nil
	}
	return page, false, nil
}

// emptyRow is a row of a list before its records are found.
func emptyRow(mac string, now time.Time, revision int64) *Tx {
	tx := newTx(mac, now)
	tx.Revision = revision
	for _, kind := range listed {
		_ = tx.slot(kind).load(prefixes[kind]+mac, nil) // nothing to decode
	}
	return tx
}

// Update reads a node, lets decide change it, and commits that. A refusal of decide changes nothing.
func (db *DB) Update(ctx context.Context, mac string, wants []Want, decide func(tx *Tx) error) error {
	return db.update(ctx, func(ctx context.Context) (*Tx, error) { return db.Load(ctx, mac, wants...) }, decide)
}

func (db *DB) update(ctx context.Context, load func(ctx context.Context) (*Tx, error),
	decide func(tx *Tx) error) error {
	return Retry(ctx, func(ctx context.Context) error {
		tx, err := load(ctx)
		if err != nil {
			return err
		}
		if err := decide(tx); err != nil {
			return err
		}
		_, err = db.Commit(ctx, tx)
		return err
	})
}

// Commit writes what units of work have changed, all or nothing, and returns the revision of that; 0 when nothing has
// changed.
func (db *DB) Commit(ctx context.Context, units ...*Tx) (int64, error) {
	var t store.Transaction
	var outcomes []string
	for _, tx := range units {
		one := tx.Transaction()
		t.If, t.Do, outcomes = append(t.If, one.If...), append(t.Do, one.Do...), append(outcomes, tx.outcomes...)
	}
	if len(t.Do) == 0 {
		return 0, nil
	}
	revision, err := db.Store.Commit(ctx, t)
	if err != nil {
		return 0, err
	}
	if db.Kexec != nil {
		for _, outcome := range outcomes {
			db.Kexec(outcome)
		}
	}
	return revision, nil
}

// Retry runs an attempt again while another commit is first with the same change.
func Retry(ctx context.Context, attempt func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	for range maxAttempts {
		err := attempt(ctx)
		if !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
	return refusal.New(refusal.Busy, "the record was changed by other requests %d times meanwhile; try again", maxAttempts)
}

// Image returns an image.
func (db *DB) Image(ctx context.Context, name string) (api.Image, error) {
	image, revision, err := db.StoredImage(ctx, name)
	if err != nil {
		return api.Image{}, err
	}
	return image.Public(revision), nil
}

// StoredImage returns an image as stored, and its revision.
func (db *DB) StoredImage(ctx context.Context, name string) (image StoredImage, revision int64, err error) {
	snapshot, err := db.Store.Read(ctx, store.Key(key.Images+name))
	if err != nil {
		return image, 0, err
	}
	kv, found := snapshot.One(0)
	if !found {
		return image, 0, refusal.New(refusal.NotFound, "image %s does not exist", name)
	}
	err = Decode(kv, &image)
	return image, kv.Revision, err
}

// ReadImage decodes an image.
func ReadImage(kv store.KV) (api.Image, error) {
	var image StoredImage
	err := Decode(kv, &image)
	return image.Public(kv.Revision), err
}

// Decode reads a value of the store. One that cannot be read is a failure of the store, not an absence.
func Decode(kv store.KV, into any) error {
	if err := json.Unmarshal(kv.Value, into); err != nil {
		return undecodable(kv, err)
	}
	return nil
}

func undecodable(kv store.KV, err error) error {
	return &store.UnavailableError{Operation: "decode " + kv.Key, Err: err}
}

// Encode makes a value as it is stored.
func Encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", value, err)) // our own types: cannot happen
	}
	return text
}
