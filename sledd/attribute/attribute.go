// SPDX-License-Identifier: Apache-2.0

// Package attribute describes what operators declare of nodes and images, for command lines and schemas. The tables are
// generated from contract/words/.
package attribute

import "strings"

// Attribute describes one field of api.NodeSpec or api.ImageSpec. The keys are explained in contract/words/nodes.yml.
type Attribute struct {
	Name, Type      string
	Required        bool
	Fixed, Measured bool // contract/words/images.yml
	ByHand          bool
	Values          []string
	Default         string
	Min, Max        int64 // 0: no limit
	Pattern, Form   string
	Text            string // in Markdown, with what a change does
	Flag            string // empty: none
	Help, Value     string
	Fields          []Attribute
}

// Title is the name for people.
func (a Attribute) Title() string { return strings.ReplaceAll(a.Name, "_", " ") }
