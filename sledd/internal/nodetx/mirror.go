// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"context"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/mirror"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// factsPage is how many facts are read at once: they are some kilobytes of each node.
const factsPage = 1000

// Mirror holds in memory what lists show, kept up to date by the hub. It must be called before the hub runs.
func (db *DB) Mirror(hub *events.Hub) {
	prefixesOf := make([]string, len(listed))
	for i, kind := range listed {
		prefixesOf[i] = prefixes[kind]
	}
	db.rows = mirror.New(db.Store, mirroredRow, prefixesOf...)
	db.models = mirror.New(db.Store, mirroredModel, key.Facts)
	hub.Follow(db.rows)
	hub.Follow(db.models)
}

// mirroredRow decodes the records of a row of a list. They share with the older row what has not changed.
func mirroredRow(mac string, old *Tx, fresh []store.Change) (*Tx, error) {
	tx := emptyRow(mac, time.Time{}, 0)
	if old != nil {
		*tx = *old
	}
	for _, change := range fresh {
		for _, kind := range listed {
			if change.Key != KeyOf(kind, mac) {
				continue
			}
			if err := tx.slot(kind).load(change.Key, change.Found()); err != nil {
				return nil, err
			}
			tx.slot(kind).shed()
			if kind == BindingOf {
				tx.bindingRevision()
			}
		}
	}
	_, _ = tx.Status(), tx.Admission() // made here, where nobody else reads them yet
	return tx, nil
}

// Walk visits the rows of all MACs behind one, in order, until see has enough; then it returns the MAC to continue
// after. A row is valid during the call only, and must not be changed. Without a mirror, a page is read at once.
func (db *DB) Walk(ctx context.Context, after string, page int64, see func(tx *Tx) bool) (next string, err error) {
	view, err := db.rows.View(ctx)
	if err != nil {
		return "", err
	}
	if view == nil {
		return db.walkStore(ctx, after, page, see)
	}
	snapshot, err := db.Store.Read(ctx, store.Key(key.Fleet))
	if err != nil {
		return "", err
	}
	identity, err := readIdentity(snapshot)
	if err != nil {
		return "", err
	}
	now := db.Now()
	var row Tx
	for found, err := range view.After(after) {
		if err != nil {
			return "", err
		}
		row = *found.Value
		row.Now, row.Revision, row.identity = now, view.Revision, identity
		if !see(&row) && found.More {
			return found.ID, nil
		}
	}
	return "", nil
}

func (db *DB) walkStore(ctx context.Context, after string, page int64, see func(tx *Tx) bool) (string, error) {
	for {
		views, more, err := db.Page(ctx, after, page)
		if err != nil {
			return "", err
		}
		for i, tx := range views {
			after = tx.MAC
			if !see(tx) && (more || i < len(views)-1) {
				return after, nil
			}
		}
		if !more {
			return "", nil
		}
	}
}

// model is vendor and product of the node with these facts. The rest of them is read over: a fleet has a model each.
func model(kv store.KV) (string, error) {
	var facts struct {
		DMI map[string]api.Identifier `json:"dmi"`
	}
	err := Decode(kv, &facts)
	return strings.TrimSpace(facts.DMI["vendor"].String() + " " + facts.DMI["product"].String()), err
}

func mirroredModel(_ string, _ *string, fresh []store.Change) (*string, error) {
	text, err := model(fresh[0].KV)
	return &text, err
}

// Models returns vendor and product of each node that has reported them, by MAC.
func (db *DB) Models(ctx context.Context) (map[string]string, error) {
	models := map[string]string{}
	view, err := db.models.View(ctx)
	if err != nil {
		return nil, err
	}
	if view != nil {
		for row, err := range view.After("") {
			if err != nil {
				return nil, err
			}
			models[row.ID] = *row.Value
		}
		return models, nil
	}
	query := store.Prefix(key.Facts)
	query.Limit = factsPage
	for {
		snapshot, err := db.Store.Read(ctx, query)
		if err != nil {
			return nil, err
		}
		found := snapshot.Results[0]
		for _, kv := range found {
			if models[strings.TrimPrefix(kv.Key, key.Facts)], err = model(kv); err != nil {
				return nil, err
			}
		}
		if len(found) < factsPage {
			return models, nil
		}
		query.Key = found[len(found)-1].Key + "\x00"
	}
}
