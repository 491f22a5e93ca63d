// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// HostileTexts returns the values of every hostile vector, by its name: what a node might send.
func HostileTexts(t testing.TB) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, c := range vectors.Cases(t, "report/hostile/text", 7) {
		texts[c.Name] = []string{c.Text}
	}
	for _, kind := range []string{"accepted", "refused"} {
		for _, c := range vectors.Cases(t, "report/hostile/"+kind, 30) {
			for _, line := range strings.Split(c.Text, "\n")[1:] {
				parsed, err := operand.Parse(line)
				if err != nil {
					continue // not operands: generation, boot, end of the file
				}
				for _, pair := range parsed.Operands {
					if len(pair.Value) > 3 { // no number
						texts[c.Name] = append(texts[c.Name], pair.Value)
					}
				}
			}
		}
	}
	return texts
}

// HostileNode returns a node of the API as JSON with hostile text wherever it has text of the machine, as a server that
// checks nothing would return it.
func HostileNode(t testing.TB, mac, name string, texts []string) []byte {
	t.Helper()
	next := cycle(texts)
	facts := func() map[string]string {
		return map[string]string{"name": next(), "serial": next(), "model": next(), "vendor": next(), "bytes": next()}
	}
	system := map[string]string{}
	for _, key := range []string{"id", "version", "kernel", "machine_id", "boot_id", "boot_order", "boot_current",
		"host_key", "address"} {
		system[key] = next()
	}
	system["confirmed"] = "2026-11-21T12:00:00Z"
	return encode(t, map[string]any{"mac": mac, "name": name, "declared": true, "boot_order": "disk",
		"admission_state": "contested", "alarms": []any{map[string]any{"kind": "rival", "count": 1, "detail": next()}},
		"status": map[string]any{"phase": "failed", "generation": 1, "code": 5, "verb": "write", "step": 2, "steps": 4,
			"boot_id": next(), "reason": next(), "detail": next(), "start_note": next(), "os": system},
		"rescue": map[string]any{"authorized_keys": []string{}, "entered": "2026-11-21T12:00:00Z", "address": next(),
			"host_key": next(), "fingerprint": next(), "reason": ""},
		"binding": map[string]any{"node": name, "mac": mac, "generation": 1, "image": "d12"},
		"facts": map[string]any{"boot_id": next(), "cpu": facts(), "memory": facts(), "firmware": facts(), "dmi": facts(),
			"kernel": facts(), "disks": []any{facts(), facts()}, "nics": []any{facts()},
			"partitions": []any{map[string]string{"disk": next(), "number": next(), "label": next(), "uuid": next(),
				"type": next()}}}})
}

// HostileRollout returns a rollout of the API as JSON, with hostile text as reasons and logs.
func HostileRollout(t testing.TB, texts []string) []byte {
	t.Helper()
	next := cycle(texts)
	run := func() map[string]any {
		return map[string]any{"node": "n1", "mac": "52:54:00:77:00:01", "wave": 1, "state": "failed",
			"reason": next(), "log": next(), "begin": "2026-11-21T12:00:00Z", "end": "2026-11-21T12:01:00Z"}
	}
	return encode(t, map[string]any{"name": "reimage-1", "kind": "reimage", "nodes": []string{"n1"},
		"desired": "image d12",
		"state":   "stopped", "reason": next(), "waves": [][]string{{"n1"}}, "started": "2026-11-21T12:00:00Z",
		"seen": "2026-11-21T12:02:00Z", "runs": []any{run(), run()}, "counts": map[string]int{"failed": 2}})
}

// Printable fails the test if a text has control or format characters other than those of keep, or a token.
func Printable(t testing.TB, what, text, keep string) {
	t.Helper()
	nodetexttest.Printable(t, what, text, keep)
}

func cycle(texts []string) func() string {
	i := -1
	return func() string {
		i++
		return texts[i%len(texts)]
	}
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
