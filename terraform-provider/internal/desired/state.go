// SPDX-License-Identifier: Apache-2.0

// Package desired compares the desired states of nodes without a call to sledd: whether two are the same, which
// generation comes next, what drifted, and what a plan makes of it. It also has the attributes that sled_binding and
// sled_bindings have in common.
package desired

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// versionPrefix is before the number of what stands for user data of which only a version is known.
const versionPrefix = "version "

// State is what a node is to become. User data is known by its keyed hash, or by the version that was declared of it.
type State struct {
	api.BindingSpec
	UserDataSHA256 string `json:"user_data_sha256,omitempty"`
	Digest         string `json:"digest,omitempty"` // of the image; empty: not known

	On *api.NodeSpec `json:"-"` // whose disk and name are the defaults; nil: not known
}

// Of returns the desired state of a stored binding.
func Of(b api.Binding) State {
	spec := b.BindingSpec
	spec.UserData = ""
	return State{BindingSpec: spec, UserDataSHA256: b.UserDataSHA256, Digest: b.Digest}
}

// Version stands for user data of which only a version is known; empty when its SHA-256 is.
func (s State) Version() string {
	if strings.HasPrefix(s.UserDataSHA256, versionPrefix) {
		return s.UserDataSHA256
	}
	return ""
}

// As returns the same state with user data of the version; empty: as it is.
func (s State) As(version string) State {
	s.UserDataSHA256 = cmp.Or(version, s.UserDataSHA256)
	return s
}

func (s State) effect() api.Effect {
	return api.Effect{BindingSpec: s.BindingSpec, Digest: s.Digest, UserDataSHA256: s.UserDataSHA256}
}

// node is what either of two states knows of it.
func (s State) node(other State) api.NodeSpec {
	if found := cmp.Or(s.On, other.On); found != nil {
		return *found
	}
	return api.NodeSpec{}
}

// Same is true when a requested state makes the same of the node as another one: disk and seed, and it is no handover
// that the other is not.
func (s State) Same(other State) bool {
	node := s.node(other)
	return (!s.Handover || other.Handover) && api.SameDesired(s.effect(), other.effect(), node) &&
		api.SameSeed(s.effect(), other.effect(), node)
}

// Reimages is true when the node is imaged again once this replaces what is stored.
func (s State) Reimages(stored State) bool {
	return len(api.Reimages(stored.effect(), s.effect(), s.node(stored))) > 0
}

// Equal is true when both are written alike, so that nothing has to be sent.
func (s State) Equal(other State) bool {
	same := s
	same.BindingSpec.Node, same.Owner, same.Digest, same.On = other.BindingSpec.Node, other.Owner, other.Digest, other.On
	return reflect.DeepEqual(same, other)
}

// SameMethod is true when what raises no generation is the same too.
func (s State) SameMethod(other State) bool { return api.SameMethod(s.BindingSpec, other.BindingSpec) }

// WipeOnly is true when nothing but a clean disk is requested.
func (s State) WipeOnly() bool { return s.Image == "" && s.Capture == "" }

// With returns the same state with another image.
func (s State) With(image string) State {
	s.Image = image
	return s
}

// Named returns the same state with another host name.
func (s State) Named(hostname string) State {
	s.Hostname = hostname
	return s
}

// Goal is the desired state in a few words.
func (s State) Goal() string {
	switch {
	case s.Capture != "":
		return "to be captured as image " + s.Capture
	case s.Image == "":
		return "to be wiped"
	default:
		return "bound to image " + s.Image
	}
}

// Generation returns the generation of a desired state once it replaces the stored binding (nil: none). again raises it
// for the same state too.
func Generation(wanted State, stored *api.Binding, status int64, again bool) int64 {
	switch {
	case stored == nil:
		return api.NextGeneration(0, status)
	case !again && !wanted.Reimages(Of(*stored)):
		return stored.Generation
	default:
		return api.NextGeneration(stored.Generation, status)
	}
}

// Drift describes what is stored instead of what was declared, and since which generation; empty when it is the same.
func Drift(declared, stored State, generation int64) string {
	if declared.Same(stored) {
		return ""
	}
	text := stored.Goal()
	if declared.Goal() != text {
		text += " instead of " + strings.TrimPrefix(declared.Goal(), "bound to ")
	}
	if other := differences(declared, stored); len(other) > 0 {
		text += " with " + strings.Join(other, ", ")
	}
	return fmt.Sprintf("%s, at generation %d", text, generation)
}

func difference(attribute, declared, stored string) string {
	return fmt.Sprintf("%s %s instead of %s", attribute, quote(stored), quote(declared))
}

func quote(text string) string {
	if text == "" {
		return "none"
	}
	return fmt.Sprintf("%q", text)
}
