// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

func TestMetricsAreForOperators(t *testing.T) {
	var down atomic.Bool
	s := run(t, storetest.Hooked(func(call string) error {
		if down.Load() {
			return &store.UnavailableError{Operation: call, Err: errors.New("down")}
		}
		return nil
	}))
	create := func(name string) string {
		asked := api.Operator{Name: name, Role: api.Read}
		return as[api.Operator](t, s.admin(200, "PUT", "/v1/operators/"+name, asked)).Token
	}
	reader, other := create("reader"), create("other")
	ask := func(token string, want int, when string) {
		t.Helper()
		if got := s.Ask("GET", "/metrics", token, "").Status; got != want {
			t.Errorf("%s: got %d, want %d", when, got, want)
		}
	}
	ask("", 401, "without a token")
	ask("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", 401, "unknown token")
	ask(reader, 200, "a reader")
	down.Store(true)
	ask(reader, 200, "the last reader, while the store is away")
	ask(other, 503, "another one, while the store is away")
	down.Store(false)
	ask(other, 200, "another one")
	down.Store(true)
	ask(other, 200, "the last of two, while the store is away")
	ask(reader, 200, "the first of two, while the store is away")
	ask("", 401, "without a token, while the store is away")
	down.Store(false)
	s.admin(204, "DELETE", "/v1/operators/reader", nil)
	ask(reader, 401, "an operator who was deleted")
	down.Store(true)
	ask(reader, 503, "an operator who was deleted, while the store is away")
	down.Store(false)
	for n := range 8 { // as many as are known
		ask(create(fmt.Sprintf("reader-%d", n)), 200, "one of many readers")
	}
	down.Store(true)
	ask(other, 503, "the reader before many, while the store is away")
}
