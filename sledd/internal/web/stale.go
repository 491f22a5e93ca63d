// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	// keptPages at most are kept; the one that was made first goes first.
	keptPages = 8
	// keptLogin is how long a login is known after it was checked last.
	keptLogin = 8 * time.Hour
)

// kept is what is left while the store does not answer: the pages that were shown last, and who was logged in.
type kept struct {
	mu     sync.Mutex
	pages  map[string]page // by address
	logins map[[sha256.Size]byte]checked
}

// checked is a login, and when it was valid.
type checked struct {
	operator api.Operator
	at       time.Time
}

// loggedIn returns the operator of a request.
func (w *Web) loggedIn(ctx context.Context, r *http.Request) (api.Operator, error) {
	cookie := cookieOf(r)
	operator, err := w.Fleet.LoggedIn(ctx, cookie)
	w.kept.mu.Lock()
	defer w.kept.mu.Unlock()
	now, of := w.Fleet.Now(), sha256.Sum256([]byte(cookie))
	switch {
	case err == nil:
		maps.DeleteFunc(w.kept.logins, func(_ [sha256.Size]byte, one checked) bool { return now.Sub(one.at) > keptLogin })
		w.kept.logins[of] = checked{operator, now}
	case refusal.Is(err, refusal.Unauthorized):
		delete(w.kept.logins, of)
	}
	return operator, err
}

// forget ends what is known of a login.
func (k *kept) forget(cookie string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.logins, sha256.Sum256([]byte(cookie)))
}

// keep keeps a page as it was shown last, with the time when its reading started.
func (k *kept) keep(address string, shown page, started time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	shown.Now = started
	k.pages[address] = shown
	if len(k.pages) <= keptPages {
		return
	}
	oldest := address
	for other, one := range k.pages {
		if one.Now.Before(k.pages[oldest].Now) {
			oldest = other
		}
	}
	delete(k.pages, oldest)
}

// stale returns a page as it was shown last, without actions, if the error is that the store does not answer: to a
// login that was checked after the page was made. Whether that has ended since is not known.
func (w *Web) stale(r *http.Request, err error) (page, bool) {
	if unavailable := (*store.UnavailableError)(nil); !errors.As(err, &unavailable) {
		return page{}, false
	}
	w.kept.mu.Lock()
	defer w.kept.mu.Unlock()
	now := w.Fleet.Now()
	login := w.kept.logins[sha256.Sum256([]byte(cookieOf(r)))]
	shown, found := w.kept.pages[r.URL.RequestURI()]
	if !found || now.Sub(login.at) > keptLogin || shown.Now.After(login.at.Add(beat)) {
		return page{}, false
	}
	shown.Operator, shown.Live, shown.Streamed, shown.Refresh = login.operator, true, false, nodeRefresh
	shown.Stale = wording.Age(now, shown.Now)
	return shown, true
}
