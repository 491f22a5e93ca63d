// SPDX-License-Identifier: Apache-2.0

// Schema prints what the provider offers, in the JSON of `terraform providers schema -json`. The documentation is made
// from it, so that it is the same whichever CLI is at hand: older ones and OpenTofu leave out identities, actions and
// list resources.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/sled-fleet/sled/terraform-provider/internal/provider"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, output io.Writer) error {
	server := providerserver.NewProtocol6(provider.New("docs")())()
	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return err
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return err
	}
	if err := fault(append(schemas.Diagnostics, identities.Diagnostics...)); err != nil {
		return err
	}
	encoder := json.NewEncoder(output)
	encoder.SetIndent("", "  ")
	// tfplugindocs looks for this name only.
	return encoder.Encode(object{"format_version": "1.0",
		"provider_schemas": object{"registry.terraform.io/hashicorp/sled": object{
			"provider":                  schema(schemas.Provider),
			"resource_schemas":          each(schemas.ResourceSchemas, schema),
			"data_source_schemas":       each(schemas.DataSourceSchemas, schema),
			"list_resource_schemas":     each(schemas.ListResourceSchemas, schema),
			"action_schemas":            each(schemas.ActionSchemas, action),
			"functions":                 each(schemas.Functions, function),
			"resource_identity_schemas": each(identities.IdentitySchemas, identity),
		}}})
}

// fault makes one error of what the provider complains about.
func fault(all []*tfprotov6.Diagnostic) error {
	var texts []string
	for _, one := range all {
		texts = append(texts, one.Summary+": "+one.Detail)
	}
	if len(texts) == 0 {
		return nil
	}
	return fmt.Errorf("the provider's schema is wrong: %s", strings.Join(texts, "; "))
}
