// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/server"
)

func TestCommittedDocumentIsFresh(t *testing.T) {
	want, err := server.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../contract/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("contract/openapi.json is stale: run make generate (sledd openapi > contract/openapi.json)")
	}
}

// The committed document differs from the served one in white space alone.
func TestDocumentIsTheServedOne(t *testing.T) {
	printed, err := server.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatal(err)
	}
	if want := as[any](t, fresh(t).admin(200, "GET", "/openapi.json", nil)); !reflect.DeepEqual(got, want) {
		t.Error("the printed document is not the served one")
	}
}
