// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/attribute"
)

// Declared are the attributes of a declaration as a person reads them. texts holds those that need a special form.
func Declared(list []attribute.Attribute, spec any, texts map[string]string) [][2]string {
	rows, values := make([][2]string, 0, len(list)), map[string]any{}
	if text, err := json.Marshal(spec); err == nil {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		_ = decoder.Decode(&values)
	}
	for _, one := range list {
		text, own := texts[one.Name]
		if !own {
			text = valueText(values[one.Name])
		}
		if one.Type == "int" && strings.HasSuffix(one.Name, "bytes") && text != "" {
			text = Fact("bytes", text)
		}
		rows = append(rows, [2]string{one.Title(), text})
	}
	return rows
}

// valueText is a JSON value as a person reads it; null is empty.
func valueText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		return YesNo(value)
	case []any:
		texts := make([]string, len(value))
		for i, one := range value {
			texts[i] = valueText(one)
		}
		return strings.Join(texts, " ")
	case map[string]any:
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			texts = append(texts, key+"="+valueText(value[key]))
		}
		return strings.Join(texts, ",")
	}
	return fmt.Sprint(value)
}
