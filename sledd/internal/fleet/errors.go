// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"
	"fmt"
)

// Kind of a refusal; the server gives each its HTTP status.
type Kind int

// The ways to refuse.
const (
	Invalid      Kind = iota + 1 // the request cannot be meant
	Unauthorized                 // no token, or none that lives
	Forbidden                    // a token, but not for this
	NotFound
	Conflict     // the request fights with what is there
	Precondition // If-Match or If-None-Match did not hold
	Unfinished   // the store failed in the middle of something long
	Busy         // too many others changed the same thing
)

// Error is a refusal. Nothing was changed.
type Error struct {
	Kind    Kind
	Message string
	Details []Detail
}

// Detail is one fault of several.
type Detail struct {
	Location string // as in body.items[3].image
	Message  string
	Value    any
}

func (e *Error) Error() string { return e.Message }

func refuse(kind Kind, format string, values ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, values...)}
}

// invalid refuses one value of a request.
func invalid(location string, value any, err error) *Error {
	return &Error{Kind: Invalid, Message: err.Error(), Details: []Detail{{location, err.Error(), value}}}
}

// IsKind says whether err is a refusal of that kind.
func IsKind(err error, kind Kind) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Kind == kind
}
