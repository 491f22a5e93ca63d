// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// offered decodes what run prints for the provider.
func offered(t *testing.T) map[string]any {
	t.Helper()
	var output bytes.Buffer
	if err := run(t.Context(), &output); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Schemas map[string]map[string]any `json:"provider_schemas"`
	}
	if err := json.Unmarshal(output.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	return all.Schemas["registry.terraform.io/hashicorp/sled"]
}

// Nothing that a user can write or read goes without a sentence in the documentation.
func TestEveryAttributeIsDescribed(t *testing.T) {
	found := 0
	var walk func(path []string, value any)
	walk = func(path []string, value any) {
		if list, is := value.([]any); is {
			for _, one := range list {
				walk(append(slices.Clone(path), "parameter"), one)
			}
		}
		inner, is := value.(map[string]any)
		if !is {
			return
		}
		_, primitive := inner["type"]
		_, nested := inner["nested_type"]
		_, parameter := inner["is_nullable"]
		if len(path) > 1 && path[len(path)-2] == "attributes" && (primitive || nested) || parameter {
			found++
			if text, _ := inner["description"].(string); len(text) < 5 {
				t.Errorf("%s: the description is %q", strings.Join(path, "."), text)
			}
		}
		for name, next := range inner {
			walk(append(slices.Clone(path), name), next)
		}
	}
	walk(nil, offered(t))
	if found < 5 {
		t.Errorf("only %d attributes were looked at", found)
	}
}
