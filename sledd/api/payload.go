// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"time"
)

// How a payload is loaded, and how it reports that it runs.
const (
	FormatLinux     = "linux"
	FormatMultiboot = "multiboot"
	ConfirmNone     = "none"
	ConfirmHTTP     = "http"
	ConfirmConsole  = "console"
)

// InMemory reports whether a node that is bound to the image runs it from memory, and no disk gets it.
func (i ImageSpec) InMemory() bool { return i.Holds() == RootImage || i.Payload != nil }

// confirmTime is for payloads that state none, in seconds.
const confirmTime = 300

// Until is when a payload that started at a time has not confirmed in time.
func (p Payload) Until(started time.Time) time.Time {
	return started.Add(time.Duration(cmp.Or(p.Timeout, confirmTime)) * time.Second)
}

// KindText is the kind of an image for people, with the format of a payload.
func (i ImageSpec) KindText() string {
	if i.Payload == nil {
		return i.Holds()
	}
	return i.Holds() + ", " + i.Payload.Format
}
