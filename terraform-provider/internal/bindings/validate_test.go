// SPDX-License-Identifier: Apache-2.0

package bindings_test

import "testing"

func TestAccBadConfigurations(t *testing.T) {
	s := start(t)
	for body, pattern := range map[string]string{
		block("x", nil, `reimage_triggers = { "52:54:00:77:00:01" = "a" `+
			`}`): `missing in images.*52:54:00:77:00:01`,
		"resource \"sled_bindings\" \"x\" {\n name = \"x\"\n images = { \"52-54-00-77-00-01\" = \"d\" }\n}": `not ` +
			`MACs .*"52-54-00-77-00-01"`,
		"resource \"sled_bindings\" \"x\" {\n name = \"x\"\n images = { \"52:54:00:77:00:01\" = \"\" " +
			"}\n}": `without an image.*52:54:00:77:00:01`,
		block("x", images("d12"), `authorized_keys = ["-----BEGIN RSA PRIVATE KEY-----"]`): `Key 1 is a private key`,
		"resource \"sled_bindings\" \"x\" {\n name = \"X\"\n images = {}\n}":               `must have only a-z`,
	} {
		s.declare(body)
		s.Fails(pattern, "plan")
	}
	s.declare(block("x", images("d99")))
	s.Fails(`52:54:00:77:00:01: image d99 does not exist`, "plan")
}
