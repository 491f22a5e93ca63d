// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	wide      = "wide" // a table with all columns, whole, also on a narrow terminal
	onlyNames = "name" // the name of each object, one per line
)

var outputs = []string{"table", wide, onlyNames, "json", "yaml"}

// show prints value in the format of -o; asTable prints the table.
func (a *app) show(value any, asTable func()) error {
	switch a.output {
	case onlyNames:
		for _, name := range namesOf(value) {
			_, _ = fmt.Fprintln(a.Out, wording.Clean(name))
		}
		return nil
	case "json":
		encoder := json.NewEncoder(a.Out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	case "yaml":
		encoded, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = a.Out.Write(encoded)
		return err
	}
	asTable()
	return nil
}
