// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"errors"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
)

// Exit codes of sledctl; the long help lists them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitDenied      = 5
	exitForged      = 5 // of records: the same as sledc's code for bytes that are not those promised
	exitUnreachable = 6
)

// usageError is an invalid command line.
type usageError struct {
	err  error
	hint string // command that prints the usage
}

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("%v\nsee %s", e.err, e.hint)
}

func (e *usageError) Unwrap() error { return e.err }

func exitCode(err error) int {
	var ended *endedError
	if errors.As(err, &ended) {
		return ended.code
	}
	var usage *usageError
	var forged *forgedError
	var heldBack heldBackError
	status := api.StatusOf(err)
	switch {
	case errors.As(err, &usage), status == 400, status == 422:
		return exitUsage
	case errors.As(err, &forged):
		return exitForged
	case api.IsNotFound(err):
		return exitNotFound
	case api.IsConflict(err), errors.As(err, &heldBack):
		return exitConflict
	case api.IsDenied(err):
		return exitDenied
	case api.IsUnreachable(err):
		return exitUnreachable
	}
	return exitFailed
}
