// SPDX-License-Identifier: Apache-2.0

// Package rollout is how nodes are brought to their bindings in waves: which nodes each wave holds,
// when a rollout stops, and how a new one affects existing ones. It uses neither store nor network.
package rollout

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// Sizes are the numbers of a spec, as nodes.
type Sizes struct {
	Canary int // 0: no canary
	Batch  int
	Budget int // nodes that may fail
}

// SizesOf reads the numbers of a spec for that many nodes.
func SizesOf(spec api.RolloutSpec, nodes int) (Sizes, error) {
	var sizes Sizes
	var err error
	if sizes.Canary, err = size("canary", spec.Canary, nodes, 0); err != nil {
		return sizes, err
	}
	if sizes.Batch, err = size("batch", spec.Batch, nodes, nodes); err != nil {
		return sizes, err
	}
	if sizes.Batch == 0 {
		return sizes, &SpecError{"batch", spec.Batch, "no node would ever be done: want at least 1, or 1%"}
	}
	if sizes.Budget, err = budget(spec.FailureBudget, nodes); err != nil {
		return sizes, err
	}
	for label, most := range spec.MaxUnavailable {
		if label == "" || most < 1 {
			return sizes, &SpecError{"max_unavailable", fmt.Sprintf("%s: %d", label, most),
				"want the name of a label and at least 1 node"}
		}
	}
	return sizes, nil
}

// SpecError names one value of a spec that cannot be meant.
type SpecError struct {
	Field, Value string
	Wanted       string
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Wanted) }

// size is a number of nodes of a wave; percents are rounded up, so that there is a node in it.
func size(field, text string, nodes, absent int) (int, error) {
	number, percent, err := parse(field, text)
	switch {
	case err != nil:
		return 0, err
	case text == "":
		return absent, nil
	case percent:
		return (number*nodes + 99) / 100, nil
	}
	return min(number, nodes), nil
}

// budget is a number of nodes that may fail; percents are rounded down, so that the limit is never exceeded.
func budget(text string, nodes int) (int, error) {
	number, percent, err := parse("failure_budget", text)
	switch {
	case err != nil:
		return 0, err
	case percent:
		return number * nodes / 100, nil
	}
	return number, nil
}

// parse reads a count or a percent; no text is 0.
func parse(field, text string) (number int, percent bool, err error) {
	const wanted = `want a count of nodes such as "2", or a percent from "0%" to "100%"`
	if text == "" {
		return 0, false, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	for _, digit := range digits {
		if digit < '0' || digit > '9' {
			return 0, false, &SpecError{field, text, wanted}
		}
	}
	number, err = strconv.Atoi(digits)
	if err != nil || len(digits) > 5 || percent && number > 100 {
		return 0, false, &SpecError{field, text, wanted}
	}
	return number, percent, nil
}
