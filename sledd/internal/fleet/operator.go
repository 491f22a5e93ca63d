// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// minToken is the least length of a token that somebody else made, in bytes.
const minToken = 20

// storedOperator is an operator as stored.
type storedOperator struct {
	Role   api.Role `json:"role"`
	SHA256 string   `json:"sha256"`
}

// includes says whether a role may do what needs another.
func includes(role, needed api.Role) bool {
	rank := map[api.Role]int{api.Read: 1, api.Operate: 2, api.Admin: 3}
	return rank[role] > 0 && rank[role] >= rank[needed]
}

// Authorize finds the operator of a token and checks the role. All operators are compared, each in constant time.
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
			operator = api.Operator{Name: strings.TrimPrefix(kv.Key, key.Operators), Role: stored.Role}
		}
	}
	if operator.Name == "" {
		return api.Operator{}, refusal.New(refusal.Unauthorized, "the token is not known")
	}
	if !includes(operator.Role, needed) {
		return api.Operator{}, refusal.New(refusal.Forbidden, "operator %s has role %s, this needs %s", operator.Name,
			operator.Role, needed)
	}
	return operator, nil
}

// Operators gives all operators by name, without tokens.
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
		list.Items = append(list.Items, api.Operator{Name: strings.TrimPrefix(kv.Key, key.Operators), Role: stored.Role})
	}
	return list, nil
}

// Operator gives one operator, without token.
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

// PutOperator makes an operator, or gives one a new token; the answer is the only place where the token is shown.
func (f *Fleet) PutOperator(ctx context.Context, name string, operator api.Operator) (api.Operator, error) {
	if operator.Name != name {
		return api.Operator{}, refusal.Value("path.name", name,
			fmt.Errorf("the path says %s, the body %s", name, operator.Name))
	}
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

// SetAdmin makes the operator admin with a token that was made elsewhere, or gives admin that token.
func (f *Fleet) SetAdmin(ctx context.Context, text string) error {
	if err := CheckToken(text); err != nil {
		return err
	}
	snapshot, err := f.Store.Read(ctx, store.Key(key.Operators+"admin"))
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
	return f.storeOperator(ctx, api.Operator{Name: "admin", Role: api.Admin, Token: text})
}

func (f *Fleet) storeOperator(ctx context.Context, operator api.Operator) error {
	var t store.Transaction
	t.Put(key.Operators+operator.Name, nodetx.Encode(storedOperator{operator.Role, token.Hash(operator.Token)}))
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
