// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"regexp"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// causes of death that a kernel tells, the plainest first.
var causes = []*regexp.Regexp{
	regexp.MustCompile(`Kernel panic - not syncing: [^\n]*`),
	regexp.MustCompile(`(?:BUG|Oops|watchdog): [^\n]*`),
}

// longestCause that an event tells.
const longestCause = 200

// LastWords records the last output of a kernel that died. Any valid token is accepted, as for
// facts: it does not depend on the binding.
func (in *Intake) LastWords(ctx context.Context, mac, bearer string, text []byte) (string, error) {
	renewed := ""
	err := in.update(ctx, mac, nil, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		renewed = in.renew(tx, record)
		tx.Status().Seen = tx.Now
		tx.Writes.Put(key.Logs+mac, text)
		tx.AddEvent(api.Event{Kind: "lastwords", Generation: tx.Status().Generation, Bytes: int64(len(text)),
			Detail: cause(string(text))})
		return nil
	})
	return renewed, err
}

// cause finds the line that says why a kernel died; empty when none does.
func cause(text string) string {
	for _, pattern := range causes {
		if found := pattern.FindString(strings.ToValidUTF8(text, "?")); found != "" {
			return strings.TrimSpace(found[:min(len(found), longestCause)])
		}
	}
	return ""
}
