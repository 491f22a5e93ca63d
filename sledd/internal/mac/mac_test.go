// SPDX-License-Identifier: Apache-2.0

package mac_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

func TestForms(t *testing.T) {
	if got := mac.Hyphens("52:54:00:77:00:01"); got != "52-54-00-77-00-01" {
		t.Error(got)
	}
	if got := mac.Plain("52:54:00:77:00:01"); got != "525400770001" {
		t.Error(got)
	}
	if got, err := mac.Parse("52-54-00-77-00-0A"); err != nil || got != "52:54:00:77:00:0a" {
		t.Error(got, err)
	}
}
