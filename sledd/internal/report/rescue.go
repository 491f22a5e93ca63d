// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// Entry is how to log in to a node under rescue.
type Entry struct {
	Address nodetext.Address
	HostKey nodetext.HostKey
}

// entry reads address and host key in the detail of a rescue that started.
func (f *fields) entry(verb string, code int) Entry {
	if verb != "rescue" || code != 0 {
		return Entry{}
	}
	address, key, _ := strings.Cut(f.must("detail"), " ")
	var entry Entry
	var err error
	if entry.Address, err = nodetext.ParseAddress(address); err != nil {
		f.fail("%s: detail: address: %w", f.line.Word, err)
	}
	if entry.HostKey, err = nodetext.ParseHostKey(key); err != nil {
		f.fail("%s: detail: host key: %w", f.line.Word, err)
	}
	return entry
}
