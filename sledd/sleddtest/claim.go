// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// Claim sends a hello of node n<i>, and returns the code and the token of the claim.
func (s *Sledd) Claim(i int, boot string) (code, token string) {
	s.t.Helper()
	a := s.Ask("POST", "/node/v1/"+mac.Hyphens(MAC(i))+"/hello", "",
		fmt.Sprintf("hello 1\nboot id=%s nic=%s\n", boot, MAC(i)))
	answer, err := admission.ParseAnswer(a.Body)
	if err != nil {
		s.t.Fatalf("hello: %d: %s", a.Status, a.Body)
	}
	return answer.Code, a.Header.Get("Sled-Token")
}

// Polls sends one poll of a claim, and returns its boot token if it is admitted.
func (s *Sledd) Polls(i int, claim string) string {
	s.t.Helper()
	return s.Ask("GET", "/node/v1/"+mac.Hyphens(MAC(i))+"/plan", claim, "").Header.Get("Sled-Token")
}
