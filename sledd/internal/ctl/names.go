// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"

	"github.com/sled-fleet/sled/sledd/api"
)

// printsNames marks commands that print objects with names, and so have -o name.
var printsNames = map[string]string{onlyNames: ""}

// namesOf returns what other commands accept for each object that a command prints.
func namesOf(value any) []string {
	switch objects := value.(type) {
	case []api.Node:
		return each(objects, nodeName)
	case api.Node:
		return []string{nodeName(objects)}
	case []api.Binding:
		return each(objects, bindingName)
	case api.Binding:
		return []string{bindingName(objects)}
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

// bindingName is the name of the bound node. A machine without one is known by its MAC.
func bindingName(b api.Binding) string { return cmp.Or(b.Node, b.MAC) }
