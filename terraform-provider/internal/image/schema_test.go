// SPDX-License-Identifier: Apache-2.0

package image

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sled-fleet/sled/sledd/attribute"
)

// Every attribute of contract/words/images.yml is in the resource and in the data sources.
func TestSchemasHaveEveryAttribute(t *testing.T) {
	var declared resource.SchemaResponse
	NewResource().Schema(t.Context(), resource.SchemaRequest{}, &declared)
	var read datasource.SchemaResponse
	NewDataSource().Schema(t.Context(), datasource.SchemaRequest{}, &read)
	for _, one := range attribute.Image {
		if _, has := declared.Schema.Attributes[one.Name]; !has {
			t.Errorf("sled_image cannot declare %s", one.Name)
		}
		if _, has := read.Schema.Attributes[one.Name]; !has {
			t.Errorf("the data source sled_image does not have %s", one.Name)
		}
	}
}
