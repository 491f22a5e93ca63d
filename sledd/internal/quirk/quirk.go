// SPDX-License-Identifier: Apache-2.0

// Package quirk knows machines that are not to be started by kexec. It is pure but for reading the file of a site.
package quirk

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
)

//go:embed quirks.yml
var shipped []byte

// List is quirks in the order in which they are tried.
type List struct {
	items    []api.Quirk
	patterns [][]pattern
}

// pattern is one of a quirk: what it looks at and what must be there.
type pattern struct {
	fact string
	glob *regexp.Regexp
}

// Load reads the quirks that are in force: those of a site's file, if there is one, then those that come with sledd.
func Load(file string) (*List, error) {
	l := &List{}
	if file != "" {
		text, err := os.ReadFile(file) //nolint:gosec // the operator names it
		if err != nil {
			return nil, err //nolint:wrapcheck // names the file
		}
		if err := l.add(text, "local"); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := l.add(shipped, "shipped"); err != nil {
		return nil, fmt.Errorf("quirks.yml of sledd itself: %w", err)
	}
	return l, nil
}

// add reads a file and puts what it holds behind what is there.
func (l *List) add(text []byte, origin string) error {
	var items []api.Quirk
	if err := yaml.UnmarshalStrict(text, &items); err != nil {
		return fmt.Errorf("want a list of entries with match, reason and source: %w", err)
	}
	for i, item := range items {
		patterns, err := compile(item)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		item.Origin = origin
		l.items = append(l.items, item)
		l.patterns = append(l.patterns, patterns)
	}
	return nil
}

func compile(item api.Quirk) ([]pattern, error) {
	if item.Origin != "" {
		return nil, fmt.Errorf("origin %q: sledd sets it, remove it", item.Origin)
	}
	if strings.TrimSpace(item.Reason) == "" {
		return nil, fmt.Errorf("reason is missing: state what goes wrong")
	}
	var patterns []pattern
	for _, one := range []struct{ fact, glob string }{{"vendor", item.Match.Vendor}, {"product", item.Match.Product},
		{"version", item.Match.Version}, {"bios", item.Match.BIOS}} {
		if one.glob != "" {
			patterns = append(patterns, pattern{one.fact, glob(one.glob)})
		}
	}
	if len(patterns) == 0 {
		return nil, fmt.Errorf("match is empty: want at least one of vendor, product, version, bios " +
			"(\"*\" for every machine)")
	}
	return patterns, nil
}

// glob matches whole strings; * stands for any run of characters. Case does not count: firmware is not consistent.
func glob(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)^` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`) + `$`)
}

// Find returns the first quirk of a machine with these DMI facts.
func (l *List) Find(dmi map[string]string) (api.Quirk, bool) {
	if l == nil {
		return api.Quirk{}, false
	}
	for i, patterns := range l.patterns {
		if matches(patterns, dmi) {
			return l.items[i], true
		}
	}
	return api.Quirk{}, false
}

func matches(patterns []pattern, dmi map[string]string) bool {
	for _, p := range patterns {
		if !p.glob.MatchString(dmi[p.fact]) {
			return false
		}
	}
	return true
}

// Items returns all of them.
func (l *List) Items() []api.Quirk {
	if l == nil {
		return nil
	}
	return l.items
}
