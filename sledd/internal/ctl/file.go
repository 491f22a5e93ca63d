// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

// readObjects reads the output of get and list: one object, a list, or a mapping with items, as YAML or JSON. "-" is
// standard input. Unknown keys are refused: a misspelt attribute must not get lost.
func readObjects[T any](a *app, name string) ([]T, error) {
	content, err := a.readFile(name)
	if err != nil {
		return nil, err
	}
	encoded, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	items, err := split(encoded)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	objects := make([]T, len(items))
	for i, item := range items {
		decoder := json.NewDecoder(bytes.NewReader(item))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&objects[i]); err != nil {
			return nil, usagef("%s: item %d: %w", name, i+1, err)
		}
	}
	return objects, nil
}

func split(encoded []byte) ([]json.RawMessage, error) {
	var items []json.RawMessage
	if json.Unmarshal(encoded, &items) == nil && items != nil {
		return items, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &object); err != nil || len(object) == 0 {
		return nil, fmt.Errorf("expected an object, a list of objects, or a mapping with items")
	}
	if list, ok := object["items"]; ok {
		return items, json.Unmarshal(list, &items)
	}
	return []json.RawMessage{encoded}, nil
}

func (a *app) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.In)
	}
	content, err := os.ReadFile(name) //nolint:gosec // the operator's own file
	if err != nil {
		return nil, &usageError{err: err}
	}
	return content, nil
}
