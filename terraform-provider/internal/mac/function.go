// SPDX-License-Identifier: Apache-2.0

package mac

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/sled-fleet/sled/sledd/api"
)

// NewFunction is provider::sled::mac.
func NewFunction() function.Function { return macFunction{} }

type macFunction struct{}

func (macFunction) Metadata(_ context.Context, _ function.MetadataRequest, response *function.MetadataResponse) {
	response.Name = "mac"
}

func (macFunction) Definition(_ context.Context, _ function.DefinitionRequest, response *function.DefinitionResponse) {
	response.Definition = function.Definition{
		Summary: "The usual form of a MAC",
		MarkdownDescription: "Takes a MAC with colons or hyphens, in upper or lower case, and returns it in lower " +
			"case with colons, as Sled stores it: " +
			"`52-54-00-77-00-0A` becomes `52:54:00:77:00:0a`. Anything else is an error. Use it for the keys of " +
			"maps of nodes.",
		Parameters: []function.Parameter{function.StringParameter{Name: "text",
			MarkdownDescription: "The MAC, six pairs of hexadecimal digits."}},
		Return: function.StringReturn{},
	}
}

func (macFunction) Run(ctx context.Context, request function.RunRequest, response *function.RunResponse) {
	var text string
	if response.Error = request.Arguments.Get(ctx, &text); response.Error != nil {
		return
	}
	address, err := api.ParseMAC(text)
	if err != nil {
		response.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	response.Error = response.Result.Set(ctx, address)
}
