// SPDX-License-Identifier: Apache-2.0

package origin

import "strings"

// programs are those that operators use, by the name with which their User-Agent starts.
var programs = map[string]string{
	"sledctl": "sledctl", "terraform-provider-sled": "terraform", "sled.fleet": "ansible", "sled-dashboard": "web",
}

// Via returns which program sent a request, by its User-Agent: one of programs, or other.
func Via(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	if program := programs[name]; program != "" {
		return program
	}
	return "other"
}
