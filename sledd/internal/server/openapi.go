// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// apiVersion is that of the operator API, not of a release.
const apiVersion = "1"

// OpenAPI returns the document of the operator API, as it is committed in contract/openapi.json.
func OpenAPI() ([]byte, error) {
	description := NewAPI(http.NewServeMux())
	(&Server{}).Describe(description)
	compact, err := json.Marshal(description.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
