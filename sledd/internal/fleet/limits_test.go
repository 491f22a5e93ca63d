// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// interrupted is a store in which something happens once, before the next commit.
type interrupted struct {
	store.Store
	once func()
}

func (i *interrupted) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	if happens := i.once; happens != nil {
		i.once = nil
		happens()
	}
	return i.Store.Commit(ctx, t)
}

// bulkOf binds nodes 1 to n to an image, and images or wipes none of them again.
func bulkOf(n int, image string) api.BulkBindings {
	request := api.BulkBindings{Limits: api.Limits{MaxReimages: new(int)}}
	for i := range n {
		request.Items = append(request.Items, binding(i+1, image).BulkBinding)
	}
	return request
}

// Between the check of a bulk change and its write another change makes a first image an image again.
func TestALimitHoldsWhenANodeChangesBeforeTheWrite(t *testing.T) {
	r := newRack(t)
	r.register("d12")
	r.register("d13")
	r.declare(1, 2)
	r.Store = &interrupted{r.memory, func() { r.bind(binding(2, "d13")) }}
	_, err := r.PutBindings(t.Context(), bulkOf(2, "d12"), false, false)
	if !refusal.Is(err, refusal.Unfinished) || !strings.Contains(fmt.Sprint(err), "0 of 2 items are done") {
		t.Errorf("%v", err)
	}
	if node := r.node(1); node.Binding != nil {
		t.Errorf("n1 was bound: %+v", node.Binding)
	}
	if bound := r.node(2).Binding; bound.Generation != 1 || bound.Image != "d13" {
		t.Errorf("n2: %+v", bound)
	}
}

// Of concurrent bulk changes that image no node again, one wins each node.
func TestALimitHoldsAmongConcurrentChanges(t *testing.T) {
	const nodes, requests = 40, 6
	r := newRack(t)
	var running sync.WaitGroup
	for i := range nodes {
		r.declare(i + 1)
	}
	for i := range requests {
		image := fmt.Sprintf("d%d", i)
		r.register(image)
		running.Go(func() {
			_, err := r.PutBindings(t.Context(), bulkOf(nodes, image), false, false)
			if err != nil && !refusal.Is(err, refusal.Unfinished) && !refusal.Is(err, refusal.Conflict) {
				t.Error(err)
			}
		})
	}
	running.Wait()
	for i := range nodes {
		if bound := r.node(i + 1).Binding; bound == nil || bound.Generation != 1 {
			t.Errorf("n%d: %+v", i+1, bound)
		}
	}
}
