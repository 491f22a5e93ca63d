// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"regexp"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
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
func (in *Intake) LastWords(ctx context.Context, mac, bearer string, text api.Raw) (string, error) {
	renewed, stored := "", text.Bytes()
	err := in.update(ctx, mac, []nodetx.Want{nodetx.Events(recent)}, func(tx *nodeTx) error {
		record, err := tx.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		if err := in.takesLog(tx, len(stored)); err != nil {
			return err
		}
		renewed = in.renew(tx, record)
		tx.Status().Seen = tx.Now
		tx.Writes.Put(key.Logs+mac, stored)
		tx.addOnce(api.Event{Kind: "lastwords", Generation: tx.Status().Generation, Bytes: int64(len(stored)),
			Detail: cause(text)})
		return nil
	})
	return renewed, err
}

// cause returns the line that states why a kernel died; empty if there is none.
func cause(text api.Raw) api.Prose {
	for _, pattern := range causes {
		if found := text.Line(pattern, longestCause); !found.IsZero() {
			return found
		}
	}
	return api.Prose{}
}
