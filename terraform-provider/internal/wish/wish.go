// SPDX-License-Identifier: Apache-2.0

// Package wish is what can be said of wishes without asking anybody: whether two are the same, which generation comes next, what drifted,
// and what a plan makes of it.
package wish

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// Wish is what a node is to become. User data is known by its SHA-256 only.
type Wish struct {
	api.BindingSpec
	UserDataSHA256 string `json:"user_data_sha256,omitempty"`
}

// Of is the wish of a stored binding.
func Of(b api.Binding) Wish {
	spec := b.BindingSpec
	spec.UserData = ""
	return Wish{BindingSpec: spec, UserDataSHA256: b.UserDataSHA256}
}

// Sum is the SHA-256 of user data in hexadecimal, as sledd tells it; empty for none.
func Sum(userData string) string {
	if userData == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(userData))
	return hex.EncodeToString(sum[:])
}

// Same says whether both leave the disk alike, so that no new generation comes of a change from one to the other.
func (w Wish) Same(other Wish) bool {
	return api.SameWish(w.BindingSpec, other.BindingSpec, w.UserDataSHA256, other.UserDataSHA256)
}

// WipeOnly says whether nothing is wanted but a clean disk.
func (w Wish) WipeOnly() bool { return w.Image == "" && w.Capture == "" }

// What is the aim in a few words.
func (w Wish) What() string {
	switch {
	case w.Capture != "":
		return "to be captured as image " + w.Capture
	case w.Image == "":
		return "to be wiped"
	default:
		return "bound to image " + w.Image
	}
}

// Next is the generation that sledd gives to a new wish: above that of the binding (0: none) and of the plan that the node was last given.
func Next(binding, status int64) int64 { return max(binding, status) + 1 }

// Generation is the one that a wish has once it is stored over what is there (nil: no binding); again raises it for the same wish too.
func Generation(wanted Wish, stored *api.Binding, status int64, again bool) int64 {
	switch {
	case stored == nil:
		return Next(0, status)
	case !again && wanted.Same(Of(*stored)):
		return stored.Generation
	default:
		return Next(stored.Generation, status)
	}
}

// Drift tells what is stored instead of what was declared, and since which generation; empty when it is the same.
func Drift(declared, stored Wish, generation int64) string {
	if declared.Same(stored) {
		return ""
	}
	var other []string
	differ := func(what, declared, stored string) {
		if declared != stored {
			other = append(other, fmt.Sprintf("%s %s instead of %s", what, quote(stored), quote(declared)))
		}
	}
	differ("disk", declared.Disk, stored.Disk)
	differ("hostname", declared.Hostname, stored.Hostname)
	differ("kernel_arguments", declared.KernelArguments, stored.KernelArguments)
	if !slices.Equal(declared.AuthorizedKeys, stored.AuthorizedKeys) {
		other = append(other, "other authorized_keys")
	}
	if declared.UserDataSHA256 != stored.UserDataSHA256 {
		other = append(other, "other user_data")
	}
	text := stored.What()
	if declared.What() != text {
		text += " instead of " + strings.TrimPrefix(declared.What(), "bound to ")
	}
	if len(other) > 0 {
		text += " with " + strings.Join(other, ", ")
	}
	return fmt.Sprintf("%s, at generation %d", text, generation)
}

func quote(text string) string {
	if text == "" {
		return "none"
	}
	return fmt.Sprintf("%q", text)
}
