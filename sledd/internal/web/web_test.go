// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/internal/web"
	"github.com/sled-fleet/sled/sledd/internal/wording"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// browser is a client of a sledd that keeps its cookie. It does not follow redirects.
type browser struct {
	*testing.T
	*sleddtest.Sledd
	cookie     string
	consoles   string // folder
	rivalToken string // of a machine that also claims to be the node
}

// ask sends a request with the cookie, and headers in pairs.
func (b *browser) ask(method, path string, form url.Values, headers ...string) sleddtest.Answer {
	b.Helper()
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin",
		"Cookie", b.cookie}, headers...)
	return b.AskOnce(method, path, form.Encode(), headers...)
}

// login logs an operator in.
func (b *browser) login(token string) sleddtest.Answer {
	b.Helper()
	a := b.ask("POST", "/ui/login", url.Values{"token": {token}, "next": {"/ui/nodes"}})
	b.cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
	return a
}

// open runs a sledd on a fleet, with a browser that is logged in as admin.
func open(t *testing.T, nodes int, options sleddtest.Options) *browser {
	t.Helper()
	b := &browser{T: t, Sledd: sleddtest.StartWith(t, options)}
	b.Hall(nodes, time.Now())
	if a := b.login(sleddtest.AdminToken); a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/ui/nodes" {
		t.Fatalf("login: %d %s", a.Status, a.Body)
	}
	return b
}

// rolled adds a rollout with a failure, a node that runs and some that wait.
func (b *browser) rolled() string {
	b.Helper()
	names := []string{}
	for i := 20; i < 32; i++ {
		names = append(names, sleddtest.MAC(i))
	}
	one, err := b.Client().StartRollout(b.Context(), "reimage", api.RolloutSpec{Nodes: names,
		Desired: "image debian-12-v2", Canary: "1", Batch: "4", FailureBudget: "25%"})
	if err != nil {
		b.Fatal(err)
	}
	for i, spec := range []api.NodeRunSpec{{State: api.RunRunning, EntryMethod: "warm"},
		{State: api.RunRunning, EntryMethod: "power"}, {State: api.RunFailed, Reason: "waited 900 s"}} {
		b.Report(one.Name, names[min(i, 1)], spec)
	}
	return one.Name
}

var placeholders = strings.NewReplacer("{$}", "", "{node}", sleddtest.MAC(14), "{rollout}", "reimage-1")

// addresses are those of all views.
func addresses() []string {
	var list []string
	for _, view := range web.Views() {
		list = append(list, placeholders.Replace(view.Path))
	}
	return list
}

// TestViews reads every view, and writes them to the folder PAGES.
func TestViews(t *testing.T) {
	b := open(t, 400, sleddtest.Options{})
	b.rolled()
	for _, address := range append(append(addresses(), forms()...), "/ui/nodes/"+sleddtest.MAC(10), "/ui/absent") {
		a := b.ask("GET", address, nil)
		if want := address != "/ui/absent"; (a.Status == http.StatusOK) != want {
			t.Errorf("%s: %d %s", address, a.Status, a.Body)
		}
		keep(t, address, a.Body)
	}
	keep(t, "/ui/login", b.AskOnce("GET", "/ui/", "").Body)
	keep(t, "style.css", b.AskOnce("GET", sheet.FindString(b.ask("GET", "/ui/", nil).Body), "").Body)
}

var sheet = regexp.MustCompile(`/ui/static/[0-9a-f]+\.css`)

// keep writes a page to the folder PAGES, from where a browser makes pictures.
func keep(t *testing.T, address, text string) {
	t.Helper()
	folder := os.Getenv("PAGES")
	if folder == "" {
		return
	}
	name := strings.ReplaceAll(strings.Trim(address, "/"), "/", "-")
	text = sheet.ReplaceAllString(text, "style.css")
	if !strings.HasSuffix(name, ".css") {
		name += ".html"
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	b := open(t, 40, sleddtest.Options{})
	b.rolled()
	page := b.ask("GET", "/ui/", nil)
	for _, address := range append(append(addresses(), forms()...), "/ui/absent", sheet.FindString(page.Body)) {
		a := b.ask("GET", address, nil)
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'; script-src 'self'; ") ||
			strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
			a.Header.Get("Cache-Control") == "" {
			t.Errorf("%s: %v", address, a.Header)
		}
	}
	if a := b.AskOnce("GET", "/", ""); a.Status != http.StatusFound || a.Header.Get("Location") != "/ui/" {
		t.Errorf("/ leads to %q", a.Header.Get("Location"))
	}
}

func TestBadAddressesAreNamed(t *testing.T) {
	b := open(t, 40, sleddtest.Options{})
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		"/ui/?colour=red":           {400, "parameter &#34;colour&#34; does not exist here"},
		"/ui/?by=shelf":             {400, "no node has a label &#34;shelf&#34;"},
		"/ui/nodes?sort=height":     {400, "sort &#34;height&#34;: expected one of name, phase"},
		"/ui/nodes?phase=asleep":    {400, "phase &#34;asleep&#34; does not exist; there are: discovered, idle"},
		"/ui/nodes?label=rack":      {400, "label &#34;rack&#34;: expected KEY=VALUE"},
		"/ui/nodes?overdue=maybe":   {400, "overdue &#34;maybe&#34;: expected true or false"},
		"/ui/nodes?after=yesterday": {400, "after: expected next of the page before"},
		"/ui/events?kind=party":     {400, "events of kind &#34;party&#34; do not exist"},
		"/ui/nodes/absent":          {404, "node absent does not exist"},
		"/ui/rollouts/absent-1":     {404, "rollout absent-1 does not exist"},
		"/ui/absent":                {404, "is no page of the dashboard"},
	} {
		a := b.ask("GET", address, nil)
		if a.Status != want.status || !strings.Contains(a.Body, want.text) || !strings.Contains(a.Body, `href="/ui/"`) {
			t.Errorf("%s: %d %s", address, a.Status, a.Body)
		}
	}
}

// While the store does not answer, each view that was shown is shown as it was, with its age and without actions, to
// operators who were logged in then. Others learn why there is none.
func TestAStoreThatIsDownIsSaid(t *testing.T) {
	shared := &storetest.Memory{}
	var ahead atomic.Int64
	b := open(t, 40, sleddtest.Options{Store: shared,
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	b.rolled()
	earlier := &browser{T: t, Sledd: b.Sledd}
	earlier.login(b.operator("ann", api.Operate).Token)
	earlier.sees(b.Sledd)
	ahead.Add(int64(time.Minute))
	shown := map[string]string{}
	for _, address := range addresses() {
		shown[address] = b.ask("GET", address, nil).Body
	}
	down := func(string) error { return &store.UnavailableError{Operation: "test", Err: errors.New("down")} }
	shared.Before(down)
	ahead.Add(int64(4 * time.Minute))
	for _, address := range addresses() {
		a := b.ask("GET", address, nil)
		if a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, "This is the last state, 4m old.") ||
			strings.Contains(a.Body, "…</a>") || headOf(a.Body) != headOf(shown[address]) {
			t.Errorf("%s: %d %s", address, a.Status, a.Body)
		}
		keep(t, "down-"+address, a.Body)
		if a := earlier.ask("GET", address, nil); a.Status != http.StatusServiceUnavailable ||
			!strings.Contains(a.Body, "The store does not answer") || headOf(a.Body) == headOf(shown[address]) {
			t.Errorf("%s, to who may not be an operator any more: %d %s", address, a.Status, a.Body)
		}
	}
	if a := b.ask("GET", "/ui/nodes?q=never", nil); !strings.Contains(a.Body, "The store does not answer. Nodes") {
		t.Errorf("a view that was not shown: %d %s", a.Status, a.Body)
	}
	shared.Before(nil)
	if b.ask("POST", "/ui/logout", nil); b.sees(b.Sledd) {
		t.Error("the login has not ended")
	}
	if shared.Before(down); strings.Contains(b.ask("GET", "/ui/", nil).Body, "last state") {
		t.Error("the last state is shown after a logout")
	}
	shared.Before(nil)
}

// A page is as old as the start of its reading, also if that took long.
func TestTheAgeOfAPageIsNotUnderstated(t *testing.T) {
	shared := &storetest.Memory{}
	var ahead atomic.Int64
	b := open(t, 1, sleddtest.Options{Store: shared,
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	var slow atomic.Int64
	shared.Before(func(string) error { slow.Add(5); ahead.Add(int64(5 * time.Minute)); return nil })
	minutes := func(path string) int64 {
		before := slow.Load()
		b.ask("GET", path, nil)
		return slow.Load() - before
	}
	login := minutes("/ui/absent") // reads the login alone
	for again := minutes("/ui/absent"); again != login; again = minutes("/ui/absent") {
		login = again // something of the start, such as the trimmer of events, has read beside it
	}
	want := fmt.Sprintf("This is the last state, %dm old.", minutes("/ui/rollouts")-login)
	shared.Before(func(string) error { return &store.UnavailableError{Operation: "test", Err: errors.New("down")} })
	if a := b.ask("GET", "/ui/rollouts", nil); !strings.Contains(a.Body, want) {
		t.Errorf("want %s: %d %s", want, a.Status, a.Body)
	}
	shared.Before(nil)
}

// headOf is the first heading of a page.
func headOf(page string) string { return regexp.MustCompile(`<h1.*</h1>`).FindString(page) }

// Each page of a list is reached by the link of the page before, and each node is on one.
func TestListsHavePages(t *testing.T) {
	b := open(t, 240, sleddtest.Options{})
	seen, next := map[string]bool{}, "/ui/nodes?label=role%3Dstorage&sort=name"
	for pages := 0; next != ""; pages++ {
		if pages > 3 {
			t.Fatal("the pages do not end")
		}
		body := b.ask("GET", next, nil).Body
		for _, row := range regexp.MustCompile(`<th scope="row"><a href="([^"]+)"`).FindAllStringSubmatch(body, -1) {
			if seen[row[1]] {
				t.Errorf("%s is on two pages", row[1])
			}
			seen[row[1]] = true
		}
		next = ""
		if found := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(body); found != nil {
			next = html.UnescapeString(found[1])
		}
	}
	if len(seen) != 234 { // of each 40, one is not declared
		t.Errorf("%d nodes are listed", len(seen))
	}
}

// The first page says what sledctl status says.
func TestTheFleetIsThatOfTheAPI(t *testing.T) {
	b := open(t, 400, sleddtest.Options{})
	sum, err := b.Client().Summary(b.Context(), api.ByPhase, api.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	body := b.ask("GET", "/ui/", nil).Body
	headline := fmt.Sprintf("<h1>%d of 400 nodes failed, %d overdue, 70 at work</h1>", sum.Total.Phases["failed"],
		sum.Total.Overdue)
	if !strings.Contains(body, headline) {
		t.Errorf("%v %s", sum.Total, body)
	}
	nodes, err := api.Collect(b.Client().Nodes(b.Context(), api.Filter{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		title := fmt.Sprintf(`href="/ui/nodes/%s" title="%s: %s"`, node.MAC, wording.NodeName(node),
			wording.Phase(node.Status.Phase))
		if strings.Count(body, title) != 1 {
			t.Errorf("%s is missing", title)
		}
	}
}
