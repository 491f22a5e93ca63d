// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// admissionHint prints what an operator can do about the admission of a node.
func (p *Printer) admissionHint(n api.Node) {
	hint := func(format string, values ...any) {
		_, _ = fmt.Fprintln(p.Err, p.Screen.Hang(wording.NodeName(n)+": "+fmt.Sprintf(format, values...), 2))
	}
	if text := n.Wait.Hint(); text != "" {
		hint("%s", text)
	}
	if len(n.Alarms) > 0 {
		hint("to acknowledge its alarms: sledctl ack %s", wording.NodeName(n))
	}
}

// Hint prints the commands that a node needs: those of its admission, and the one that shows more of a failed or
// discovered node.
func (p *Printer) Hint(n api.Node) {
	p.admissionHint(n)
	name := wording.NodeName(n)
	var text string
	switch {
	case n.Status.Phase == api.Failed && n.Status.Code == api.CodeDisk:
		text = "no disk was touched; for all disks and why each was refused: sledctl log " + name
	case n.Status.Phase == api.Failed && n.Status.Code != 0:
		text = "for the log of the step: sledctl log " + name
	case n.Status.Phase == api.Discovered && !n.Declared:
		text = fmt.Sprintf("for its hardware: sledctl node get %s; to accept it: sledctl node accept %s --name NAME",
			name, n.MAC)
	default:
		return
	}
	_, _ = fmt.Fprintln(p.Err, p.Screen.Hang(name+": "+text, 2))
}
