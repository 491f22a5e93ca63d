// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"os"
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
