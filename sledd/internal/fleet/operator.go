// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// admin is the operator whose token is in a file of sledd.
const admin = "admin"

// minToken is the least length of a token that somebody else made, in bytes.
const minToken = 20

// defaultLife of an operator's token.
const defaultLife = 90 * 24 * time.Hour

// storedOperator is an operator as stored. Without expires its token never ends: it is the one of
// --admin-token-file.
type storedOperator struct {
	Role     api.Role  `json:"role"`
	SHA256   string    `json:"sha256"`
	Owner    string    `json:"owner,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	LastUsed time.Time `json:"last_used,omitzero"`
}

// public is the operator as it is shown.
func (o storedOperator) public(name string) api.Operator {
	return api.Operator{Name: name, Role: o.Role, Owner: o.Owner, Expires: o.Expires, LastUsed: o.LastUsed}
}

// includes reports whether a role has the rights of another.
func includes(role, needed api.Role) bool {
	rank := map[api.Role]int{api.Read: 1, api.Operate: 2, api.Admin: 3}
	return rank[role] > 0 && rank[role] >= rank[needed]
}

// Authorize finds the operator of a token and checks the role; one without the role is returned with the error. All
// operators are compared, each in constant time.
func (f *Fleet) Authorize(ctx context.Context, bearer string, needed api.Role) (api.Operator, error) {
	if bearer == "" {
		return api.Operator{}, refusal.New(refusal.Unauthorized, "no token: send Authorization: Bearer TOKEN")
	}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Operators))
	if err != nil {
		return api.Operator{}, err
	}
	var operator api.Operator
	for _, kv := range snapshot.Results[0] {
		var stored storedOperator
		if err := nodetx.Decode(kv, &stored); err != nil {
			return api.Operator{}, err
		}
		if token.Same(bearer, stored.SHA256) {
			operator = stored.public(strings.TrimPrefix(kv.Key, key.Operators))
		}
	}
	if operator.Name == "" {
		return api.Operator{}, refusal.New(refusal.Unauthorized, "the token is not known")
	}
	if !operator.Expires.IsZero() && !f.Now().Before(operator.Expires) {
		return api.Operator{}, refusal.New(refusal.Unauthorized, "the token of operator %s expired on %s: "+
			"an operator with role admin can make another", operator.Name, operator.Expires.Format(time.DateOnly))
	}
	f.noteUse(operator)
	return operator, Permit(operator, needed)
}

// Permit refuses an operator without the rights of a role.
func Permit(operator api.Operator, needed api.Role) error {
	if includes(operator.Role, needed) {
		return nil
	}
	return refusal.New(refusal.Forbidden, "operator %s has role %s, this needs %s", operator.Name, operator.Role, needed)
}

// Operators returns all operators by name, without tokens.
func (f *Fleet) Operators(ctx context.Context) (api.OperatorList, error) {
	list := api.OperatorList{Items: []api.Operator{}}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Operators))
	if err != nil {
		return list, err
	}
	for _, kv := range snapshot.Results[0] {
		var stored storedOperator
		if err := nodetx.Decode(kv, &stored); err != nil {
			return list, err
		}
		list.Items = append(list.Items, stored.public(strings.TrimPrefix(kv.Key, key.Operators)))
	}
	return list, nil
}

// Operator returns one operator, without token.
func (f *Fleet) Operator(ctx context.Context, name string) (api.Operator, error) {
	list, err := f.Operators(ctx)
	if err != nil {
		return api.Operator{}, err
	}
	for _, operator := range list.Items {
		if operator.Name == name {
			return operator, nil
		}
	}
	return api.Operator{}, refusal.New(refusal.NotFound, "operator %s does not exist", name)
}

// PutOperator creates an operator, or sets a new token of one. Only the response contains the token.
func (f *Fleet) PutOperator(ctx context.Context, name string, operator api.Operator) (api.Operator, error) {
	if operator.Name != name {
		return api.Operator{}, refusal.Value("path.name", name,
			fmt.Errorf("the path names %s, the body %s", name, operator.Name))
	}
	if operator.Expires.IsZero() {
		operator.Expires = f.Now().Add(defaultLife)
	}
	if !operator.Expires.After(f.Now()) {
		return api.Operator{}, refusal.Value("body.expires", operator.Expires,
			fmt.Errorf("expires %s is not in the future", operator.Expires.Format(time.RFC3339)))
	}
	operator.Expires, operator.LastUsed = operator.Expires.UTC().Truncate(time.Second), time.Time{}
	operator.Token = token.MintOperator()
	return operator, f.storeOperator(ctx, operator)
}

// CheckToken refuses a token that is too short to be secret.
func CheckToken(text string) error {
	if len(text) < minToken || strings.ContainsAny(text, " \t\r\n") {
		return fmt.Errorf("the token has %d bytes: want at least %d and no white space, as from openssl rand -hex 32",
			len(text), minToken)
	}
	return nil
}

// SetAdmin creates operator admin with a given token, or replaces its token.
func (f *Fleet) SetAdmin(ctx context.Context, text string) error {
	if err := CheckToken(text); err != nil {
		return err
	}
	snapshot, err := f.Store.Read(ctx, store.Key(key.Operators+admin))
	if err != nil {
		return err
	}
	var stored storedOperator
	if kv, found := snapshot.One(0); found {
		if err := nodetx.Decode(kv, &stored); err != nil {
			return err
		}
	}
	if stored.Role == api.Admin && token.Same(text, stored.SHA256) {
		return nil
	}
	return f.storeOperator(ctx, api.Operator{Name: admin, Role: api.Admin, Token: text})
}

func (f *Fleet) storeOperator(ctx context.Context, operator api.Operator) error {
	var t store.Transaction
	t.Put(key.Operators+operator.Name, nodetx.Encode(storedOperator{Role: operator.Role,
		SHA256: token.Hash(operator.Token), Owner: operator.Owner, Expires: operator.Expires}))
	_, err := f.Store.Commit(ctx, t)
	return err
}

// DeleteOperator takes an operator's token away.
func (f *Fleet) DeleteOperator(ctx context.Context, name string) error {
	return nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := f.Store.Read(ctx, store.Key(key.Operators+name))
		if err != nil {
			return err
		}
		kv, found := snapshot.One(0)
		if !found {
			return refusal.New(refusal.NotFound, "operator %s does not exist", name)
		}
		var t store.Transaction
		t.Unchanged(kv.Key, kv.Revision)
		t.Delete(kv.Key)
		_, err = f.Store.Commit(ctx, t)
		return err
	})
}
