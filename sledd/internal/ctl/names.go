// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// printsNames marks commands that print objects with names, and so have -o name.
var printsNames = map[string]string{onlyNames: ""}

// namesOf returns the name of each object that a command prints, as other commands accept it.
func namesOf(value any) []string {
	switch objects := value.(type) {
	case []api.Node:
		return each(objects, wording.NodeName)
	case api.Node:
		return []string{wording.NodeName(objects)}
	case []api.Binding:
		return each(objects, wording.BindingName)
	case api.Binding:
		return []string{wording.BindingName(objects)}
	case []api.Image:
		return each(objects, func(i api.Image) string { return i.Name })
	case api.Image:
		return []string{objects.Name}
	case []api.Operator:
		return each(objects, func(o api.Operator) string { return o.Name })
	case []api.Rollout:
		return each(objects, func(r api.Rollout) string { return r.Name })
	case []placeRow:
		return each(objects, func(r placeRow) string { return r.Name })
	case api.Rollout:
		return []string{objects.Name}
	}
	return nil
}

func each[T any](objects []T, name func(T) string) []string {
	names := make([]string, 0, len(objects))
	for _, object := range objects {
		names = append(names, name(object))
	}
	return names
}
