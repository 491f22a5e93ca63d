// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// shows wants a plan to be the one that a guide shows, from its first action to its summary, or to its end if it is the
// plan of one machine: several warnings come in no order. OpenTofu words its plans in another way.
func shows(t *testing.T, file, plan string, whole bool) {
	t.Helper()
	if acctest.IsTofu() {
		return
	}
	_, text, found := strings.Cut(plan, "Terraform will perform the following actions:\n")
	if !found {
		t.Fatalf("%s: no plan:\n%s", file, plan)
	}
	if at := regexp.MustCompile(`(?m)^Plan: .*$`).FindStringIndex(text); at != nil && !whole {
		text = text[:at[1]]
	}
	acctest.Golden(t, filepath.Join(shown, "guides", file), text)
}

// What people copy first wipes nothing that they did not ask for: examples of resources leave the defaults of what
// happens after drift and after a destroy.
func TestFirstExamplesHaveSafeDefaults(t *testing.T) {
	dangerous := regexp.MustCompile(`on_(drift|destroy) *= *"(reimage|wipe)"`)
	files := match(t, filepath.Join(shown, "resources"), "*/*.tf")
	if len(files) < 5 {
		t.Fatalf("only %d examples", len(files))
	}
	for _, file := range append(files, match(t, filepath.Join(shown, "provider"), "*.tf")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := dangerous.Find(text); found != nil {
			t.Errorf("%s: %s", file, found)
		}
	}
	if !dangerous.MatchString(`  on_destroy = "wipe"`) {
		t.Error("the pattern finds nothing")
	}
}

// Each error and warning that a page quotes is one that a test of a guide compares with what a command printed. Dots
// stand for what differs each time.
func TestPagesQuoteWhatIsPrinted(t *testing.T) {
	source, err := os.ReadFile("guides_test.go")
	if err != nil {
		t.Fatal(err)
	}
	compared := regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(string(source), "")
	message := regexp.MustCompile(`(?m)^(?:Error|Warning): (.+)$`)
	count := 0
	pages := append(match(t, "../../templates", "*.tmpl"), match(t, "../../templates/guides", "*.tmpl")...)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range message.FindAllStringSubmatch(string(text), -1) {
			count++
			for _, part := range regexp.MustCompile(`\S*\.\.\.`).Split(found[1], -1) {
				if !strings.Contains(compared, part) {
					t.Errorf("%s: no test compares %q", page, found[1])
				}
			}
		}
	}
	if count < 9 {
		t.Errorf("only %d messages found", count)
	}
}
