// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// markup is what a page of the dashboard may have: its own elements, without scripts, styles and handlers.
var (
	elements = regexp.MustCompile(`<(/?)([a-zA-Z0-9]+)([^>]*)>`)
	allowed  = strings.Fields(`html head meta title link body a header nav form input small button main footer time span
		section h1 h2 h3 p label select option table thead tbody tr th td b i code pre ul ol li div aside svg rect progress
		details summary noscript script dialog kbd textarea datalist`)
	ownScript = regexp.MustCompile(`^<script src="/ui/static/[0-9a-f]+\.js" defer>$`)
	forbidden = regexp.MustCompile(`(?i)\s(on[a-z]+|style|srcdoc)\s*=|javascript:|ZgotmplZ`)
)

// inert fails the test unless a page has no markup but that of its template.
func inert(t *testing.T, what, page string) {
	t.Helper()
	for _, element := range elements.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+element[2]+" ") {
			t.Errorf("%s: element %s", what, element[0])
		}
		if element[2] == "script" && element[1] == "" && !ownScript.MatchString(element[0]) {
			t.Errorf("%s: %s", what, element[0])
		}
		if forbidden.MatchString(element[3]) {
			t.Errorf("%s: %s", what, element[0])
		}
	}
	sleddtest.Printable(t, what, page, "\n\t")
	sleddtest.Printable(t, what+", as a browser reads it", html.UnescapeString(page), "\n\t")
}

// poison stores what a server that checks nothing would have stored: hostile text in the records of a node, of a
// rollout and of events.
func (b *browser) poison(texts []string) {
	b.Helper()
	var node, rolled map[string]json.RawMessage
	decode := func(text []byte, into any) {
		if err := json.Unmarshal(text, into); err != nil {
			b.Fatal(err)
		}
	}
	address, text := sleddtest.MAC(14), strings.Join(texts, " ")
	decode(sleddtest.HostileNode(b, address, "n1", texts), &node)
	decode(sleddtest.HostileRollout(b, texts), &rolled)
	quoted, err := json.Marshal(text)
	if err != nil {
		b.Fatal(err)
	}
	var t store.Transaction
	t.Put(key.Status+address, node["status"])
	t.Put(key.Facts+address, node["facts"])
	t.Put(key.Rollouts+"reimage-1", fmt.Appendf(nil, `{"name":"reimage-1","kind":"reimage","nodes":["n1"],"macs":[%q],
		"wave_of":[1],"waves":[["n1"]],"desired":%s,"owner":%s,"state":"stopped","reason":%s,
		"started":"2026-11-21T12:00:00Z"}`, address, quoted, quoted, rolled["reason"]))
	var runs []json.RawMessage
	decode(rolled["runs"], &runs)
	t.Put(key.RunsOf("reimage-1")+address, runs[0])
	t.Put(key.Logs+address, []byte(text))
	t.Put(key.Nodes+address, fmt.Appendf(nil, `{"mac":%q,"name":"n1","labels":{"rack":%s},"disk":%s}`, address, quoted,
		quoted))
	t.Put(key.Event(address, 1), fmt.Appendf(nil,
		`{"kind":"end","mac":%q,"name":%s,"detail":%s,"actor":%s,"verb":%s}`, address, quoted, quoted, quoted, quoted))
	if _, err := b.Fleet.Store.Commit(b.Context(), t); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.consoles, address+".log"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// Text of a node, an operator or a request is shown as text by every view.
func TestHostileTextIsInert(t *testing.T) {
	folder := t.TempDir()
	b := open(t, 40, sleddtest.Options{ConsoleDirectory: folder})
	b.consoles = folder
	b.rolled()
	all := sleddtest.HostileTexts(t)
	all["markup"] = []string{`"><script>alert(1)</script>`, `' onload='x`, `</title><style>*{}</style>`, "\u202egnp",
		"\x1b[31m", `javascript:alert(1)`, "{{.}}", strings.Repeat("w", 4096)}
	for name, texts := range all {
		b.poison(texts)
		for _, address := range append(addresses(), forms()...) {
			a := b.ask("GET", address, nil)
			if a.Status != http.StatusOK {
				t.Errorf("%s, %s: %d %s", name, address, a.Status, a.Body)
			}
			inert(t, name+", "+address, a.Body)
			hostile := url.Values{"label": {"rack=" + texts[0]}}
			for _, parameter := range []string{"q", "by", "kind", "image", "sort", texts[0]} {
				hostile.Set(parameter, texts[0])
			}
			target := address + "?" + hostile.Encode()
			inert(t, name+", "+target, b.ask("GET", target, nil).Body)
			inert(t, name+", login of "+target, b.AskOnce("GET", target, "").Body)
			inert(t, name+", POST "+address, b.ask("POST", address, hostileForm(texts[0])).Body)
			inert(t, name+", a list", b.ask("GET", "/ui/nodes?q="+url.QueryEscape(texts[0]), nil).Body)
		}
	}
}

// hostileForm has a text in each field of each form.
func hostileForm(text string) url.Values {
	values := everything()
	for field := range values {
		if field != "act" {
			values.Set(field, text)
		}
	}
	return with(values, "disk", text, "labels", text+"="+text)
}
