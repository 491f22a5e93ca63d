// SPDX-License-Identifier: Apache-2.0

package double

import (
	"net/http"
	"time"
)

// buttons are the power buttons of machines, by MAC, for a driver that needs no BMC: POST /MAC/on?from=pxe, /MAC/off.
type buttons map[string]*bmc

func (all buttons) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{mac}/on", all.press(func(b *bmc, r *http.Request) error {
		b.flag, b.flagged = override{Target: map[string]string{"pxe": "Pxe", "disk": "Hdd"}[r.FormValue("from")]}, time.Now()
		return b.on(b.flagged)
	}))
	mux.HandleFunc("POST /{mac}/off", all.press(func(b *bmc, _ *http.Request) error {
		b.down()
		return nil
	}))
	return mux
}

func (all buttons) press(do func(b *bmc, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b := all[r.PathValue("mac")]
		if b == nil {
			http.NotFound(w, r)
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := do(b, r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
