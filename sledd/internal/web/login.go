// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// cookieName has a prefix with which browsers take the cookie by HTTPS alone, and from no other host.
const cookieName = "__Host-sled"

func cookieOf(r *http.Request) string {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	return cookie.Value
}

func setCookie(out http.ResponseWriter, value string, age int) {
	http.SetCookie(out, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, Secure: true,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// loginForm asks for a token.
type loginForm struct {
	Next  string // page that the login leads to
	Fault string
	// Foreign: a link on another site led here, with which the browser sends no cookie. The page reads itself again.
	Foreign bool
}

func (w *Web) loginPage(out http.ResponseWriter, r *http.Request, status int, next, fault string) {
	foreign := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "cross-site"
	w.write(out, status, page{Title: "Log in", View: "login", Body: loginForm{next, fault, foreign}})
}

// login exchanges the token of an operator for a cookie.
func (w *Web) login(out http.ResponseWriter, r *http.Request) {
	next, from := ownPage(r.PostFormValue("next")), origin.Of(r.Context()).From()
	if !w.attempts.Allow(from, w.Fleet.Now(), 1) {
		out.Header().Set("Retry-After", "60")
		w.loginPage(out, r, http.StatusTooManyRequests, next, "Too many attempts from this address: wait a minute.")
		return
	}
	cookie, operator, err := w.Fleet.Login(r.Context(), strings.TrimSpace(r.PostFormValue("token")))
	if refusal.Is(err, refusal.Unauthorized) {
		w.Log.Warn("login refused", "from", from, "error", err)
		w.loginPage(out, r, http.StatusUnauthorized, next, refusedText(err))
		return
	}
	if err != nil {
		w.fail(out, r, api.Operator{}, err)
		return
	}
	w.Log.Info("login", "operator", operator.Name, "role", operator.Role, "from", from)
	setCookie(out, cookie, 0)
	http.Redirect(out, r, next, http.StatusSeeOther) //nolint:gosec // ownPage checked it
}

// refusedText explains why a token was refused.
func refusedText(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "no token") {
		return "Enter the token of an operator."
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// ownPage returns a page of the dashboard; the first one for any other address.
func ownPage(next string) string {
	if !strings.HasPrefix(next, "/ui/") || strings.ContainsAny(next, "\\\r\n") {
		return "/ui/"
	}
	return next
}

func (w *Web) logout(out http.ResponseWriter, r *http.Request) {
	cookie := cookieOf(r)
	_, err := w.Fleet.LoggedIn(r.Context(), cookie) // strangers make no writes
	if err == nil {
		err = w.Fleet.Logout(r.Context(), cookie)
		w.kept.forget(cookie)
	}
	if err != nil && !refusal.Is(err, refusal.Unauthorized) {
		w.fail(out, r, api.Operator{}, err)
		return
	}
	setCookie(out, "", -1)
	http.Redirect(out, r, "/ui/", http.StatusSeeOther)
}
