// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

const (
	// loginLife is how long a login lasts without a request.
	loginLife = 8 * time.Hour
	// loginPause is the time between two extensions of a login.
	loginPause = 10 * time.Minute
)

// storedLogin is the login of a browser as stored. The key has the SHA-256 of its cookie.
type storedLogin struct {
	Operator string    `json:"operator"`
	Role     api.Role  `json:"role"`
	SHA256   string    `json:"sha256"` // of the operator's token
	Expires  time.Time `json:"expires"`
}

// Login makes a login of the operator with a token, and returns its cookie.
func (f *Fleet) Login(ctx context.Context, bearer string) (string, api.Operator, error) {
	operator, err := f.Authorize(ctx, bearer, api.Read)
	if err != nil {
		return "", operator, err
	}
	cookie := token.MintLogin()
	login := storedLogin{Operator: operator.Name, Role: operator.Role, SHA256: token.Hash(bearer)}
	return cookie, operator, f.keepLogin(ctx, key.Logins+token.Hash(cookie), 0, login)
}

// LoggedIn returns the operator of a cookie. The login ends with the operator, its token and its role.
func (f *Fleet) LoggedIn(ctx context.Context, cookie string) (api.Operator, error) {
	var ended error = refusal.New(refusal.Unauthorized, "the login has ended")
	if cookie == "" {
		return api.Operator{}, ended
	}
	of := key.Logins + token.Hash(cookie)
	snapshot, err := f.Store.Read(ctx, store.Key(of))
	if err != nil {
		return api.Operator{}, err
	}
	kv, found := snapshot.One(0)
	if !found {
		return api.Operator{}, ended
	}
	var login storedLogin
	if err := nodetx.Decode(kv, &login); err != nil {
		return api.Operator{}, err
	}
	operator, err := f.operatorOf(ctx, login)
	if err != nil || operator.Name == "" || !f.Now().Before(login.Expires) {
		return api.Operator{}, cmp.Or(err, ended)
	}
	f.noteUse(operator)
	if login.Expires.Sub(f.Now()) < loginLife-loginPause {
		_ = f.keepLogin(ctx, of, kv.Revision, login) // another request may have extended it; the next one tries again
	}
	return operator, nil
}

// operatorOf returns the operator of a login, without a name if there is none with its token and its role.
func (f *Fleet) operatorOf(ctx context.Context, login storedLogin) (api.Operator, error) {
	snapshot, err := f.Store.Read(ctx, store.Key(key.Operators+login.Operator))
	if err != nil {
		return api.Operator{}, err
	}
	kv, found := snapshot.One(0)
	if !found {
		return api.Operator{}, nil
	}
	var stored storedOperator
	if err := nodetx.Decode(kv, &stored); err != nil {
		return api.Operator{}, err
	}
	expired := !stored.Expires.IsZero() && !f.Now().Before(stored.Expires)
	if expired || stored.SHA256 != login.SHA256 || stored.Role != login.Role {
		return api.Operator{}, nil
	}
	return stored.public(login.Operator), nil
}

// keepLogin stores a login for its whole life, if it was not changed since a revision.
func (f *Fleet) keepLogin(ctx context.Context, of string, revision int64, login storedLogin) error {
	login.Expires = f.Now().Add(loginLife).UTC().Truncate(time.Second)
	t := store.Transaction{Life: loginLife}
	t.Unchanged(of, revision)
	t.Put(of, nodetx.Encode(login))
	_, err := f.Store.Commit(ctx, t)
	return err
}

// Logout ends a login.
func (f *Fleet) Logout(ctx context.Context, cookie string) error {
	var t store.Transaction
	t.Delete(key.Logins + token.Hash(cookie))
	_, err := f.Store.Commit(ctx, t)
	return err
}
