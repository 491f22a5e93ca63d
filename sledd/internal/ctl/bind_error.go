// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// namingNodes puts the faults of a bulk request in words for people: by node and not by place in the request, and a
// fault that several nodes have once.
func namingNodes(err error, items []api.BulkBinding) error {
	var refused *api.Error
	if !errors.As(err, &refused) {
		return err
	}
	named := *refused
	named.Errors = nil
	var messages []string
	nodes := map[string][]string{}
	for _, fault := range refused.Errors {
		place := -1
		_, _ = fmt.Sscanf(fault.Location, "body.items[%d]", &place)
		if place < 0 || place >= len(items) {
			named.Errors = append(named.Errors, fault)
			continue
		}
		if !slices.Contains(messages, fault.Message) {
			messages = append(messages, fault.Message)
		}
		nodes[fault.Message] = append(nodes[fault.Message], items[place].Node)
	}
	for _, message := range messages {
		text, of := message, nodes[message]
		switch {
		case len(of) > 1:
			text += fmt.Sprintf(" (%s)", nodesText(len(of)))
		case !strings.Contains(message, of[0]):
			text = of[0] + ": " + message
		}
		named.Errors = append(named.Errors, api.ErrorDetail{Message: text})
	}
	return &named
}
