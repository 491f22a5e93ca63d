// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// start adds the steps that start an image from memory. No disk is touched.
func (p *Plan) start(r Request, upload string) {
	binding, payload := *r.Binding, r.Image.Payload
	if payload == nil {
		p.add("fetch", nil, append(imaged(binding, r.Image, upload), "as", "root")...)
		p.add("configure", nil, "hostname", first(binding.Hostname, r.Node.Name))
		p.add("start", nil, "as", "root")
		return
	}
	p.add("fetch", nil, append(imaged(binding, r.Image, upload), "as", "kernel")...)
	operands := []string{"as", "kernel", "format", payload.Format}
	if payload.RealMode {
		operands = append(operands, "real_mode", "yes")
	}
	if arguments := strings.TrimSpace(payload.Arguments + " " + binding.KernelArguments); arguments != "" {
		operands = append(operands, "append", arguments)
	}
	if payload.Confirm == api.ConfirmHTTP && r.Confirm != "" {
		operands = append(operands, "confirm", r.Confirm)
	}
	p.add("start", nil, operands...)
}

// Confirms reports whether the plan is that of a payload that requests a URL once it runs.
func (r Request) Confirms() bool {
	return r.Binding != nil && r.Image != nil && r.Image.Payload != nil && r.Image.Payload.Confirm == api.ConfirmHTTP
}
