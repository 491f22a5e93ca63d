// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"cmp"
	"encoding/json"

	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// written is a record in the private state. The CLI writes all of the state again after each resource, and a byte here
// is 1.8 bytes there. So it leaves out what is known without it: the MAC, an owner that is the same, and the digest of
// the image, which sledd knows as long as the image is bound.
type written struct {
	*fields
	Desired *short  `json:"desired,omitempty"`
	Owner   *string `json:"owner,omitempty"`
}

type fields record

// short is a desired state without its node.
type short struct {
	desired.State
	Node string `json:"node,omitempty"`
}

// MarshalJSON writes the record.
func (r *record) MarshalJSON() ([]byte, error) {
	w := written{fields: (*fields)(r), Desired: &short{State: r.Desired}}
	w.Desired.Digest = ""
	if r.Owner != r.Desired.Owner {
		w.Owner = &r.Owner
	}
	return json.Marshal(w) //nolint:wrapcheck // keep explains it
}

// UnmarshalJSON reads a record.
func (r *record) UnmarshalJSON(text []byte) error {
	w := written{fields: (*fields)(r)}
	if err := json.Unmarshal(text, &w); err != nil {
		return err //nolint:wrapcheck // load explains it
	}
	if w.Desired != nil {
		r.Desired = w.Desired.State
	}
	r.Owner = *cmp.Or(w.Owner, &r.Desired.Owner)
	return nil
}
