// SPDX-License-Identifier: Apache-2.0

package intake

import "github.com/sled-fleet/sled/sledd/api"

// reportedArchitecture translates the kernel's name in the facts to the API's; empty for one that
// Sled does not support.
func reportedArchitecture(facts api.Facts) string {
	return map[string]string{"x86_64": "x86_64", "aarch64": "arm64"}[facts.CPU["arch"].String()]
}
