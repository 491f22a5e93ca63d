// SPDX-License-Identifier: Apache-2.0

// Package refusal is the errors of requests that sledd refuses: nothing was changed.
package refusal

import (
	"errors"
	"fmt"
)

// Kind of a refusal; the server maps each to an HTTP status.
type Kind int

// The kinds of refusals.
const (
	Invalid      Kind = iota + 1 // a value of the request is not valid
	Unauthorized                 // no token, or an expired one
	Forbidden                    // a token, but not for this
	NotFound
	Conflict     // the request contradicts the present state
	Precondition // If-Match or If-None-Match did not hold
	Unfinished   // the store failed in the middle of a long change
	Busy         // too many others changed the same thing
	TooMany      // more often, or more, than one may
	Full         // the store is too full for this kind of write
	Withheld     // not yet; the same request may succeed later
)

// Error is a refusal.
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

// Error implements error.
func (e *Error) Error() string { return e.Message }

// New makes a refusal.
func New(kind Kind, format string, values ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, values...)}
}

// Value refuses one value of a request.
func Value(location string, value any, err error) *Error {
	return &Error{Kind: Invalid, Message: err.Error(), Details: []Detail{{location, err.Error(), value}}}
}

// Is reports whether err is a refusal of that kind.
func Is(err error, kind Kind) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Kind == kind
}

// AddItem notes a fault of one item of a bulk request.
func (e *Error) AddItem(i int, field string, value any, message string) {
	e.Details = append(e.Details, Detail{fmt.Sprintf("body.items[%d].%s", i, field), message, value})
}

// OrNil returns the refusal if it has details.
func (e *Error) OrNil() error {
	if len(e.Details) == 0 {
		return nil
	}
	return e
}
