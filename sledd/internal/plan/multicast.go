// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Unicast is the transport of a binding whose image comes only from its URLs, Multicast the one that needs a sender.
const (
	Unicast   = "unicast"
	Multicast = "multicast"
)

// MostNodes is how many nodes a plan can tell a sender to wait for.
const MostNodes = 65535

const (
	leastSecret = 16 // bytes
	mostSecret  = 4096
	keySize     = 16
)

// Sender sends images to many nodes at once (contract/multicast.md).
type Sender struct {
	place  string
	secret []byte // of the site; nil: packets have no key
}

// ParseSender takes ADDRESS:PORT, and a file with the secret of the site or "".
func ParseSender(place, secretFile string) (*Sender, error) {
	if err := checkMulticast(place); err != nil || strings.Contains(place, "/") {
		return nil, fmt.Errorf("%.40q is not the ADDRESS:PORT of a sender, with an IPv4 address", place)
	}
	if secretFile == "" {
		return &Sender{place: place}, nil
	}
	secret, err := os.ReadFile(secretFile) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	if len(secret) < leastSecret || len(secret) > mostSecret || slices.Contains(secret, 0) {
		return nil, fmt.Errorf("%s: want %d to %d bytes of text", secretFile, leastSecret, mostSecret)
	}
	return &Sender{place, secret}, nil
}

// of is the value of the operand for an image.
func (s *Sender) of(digest string) (string, error) {
	if s.secret == nil {
		return s.place, nil
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil || len(sum) != sha256.Size {
		return "", errors.New("the digest of the image has another form")
	}
	code := hmac.New(sha256.New, s.secret)
	code.Write(sum)
	return s.place + "/" + hex.EncodeToString(code.Sum(nil)[:keySize]), nil
}

// receive lets the plan's write receive what the sender sends, unless the binding's transport is unicast, and tells the
// sender how many nodes receive the image now. One alone uses HTTP, as by a plan without a number. A private image is
// not sent. Without a sender (nil) nothing changes.
func (p *Plan) receive(sender *Sender, transport string, nodes int) error {
	if sender == nil || transport == Unicast {
		return nil
	}
	for i := range p.Steps {
		urls, found := p.Steps[i].Get("image")
		if !brings(p.Steps[i]) || !found || strings.Contains(urls, Captured) {
			continue
		}
		digest, _ := p.Steps[i].Get("digest")
		value, err := sender.of(digest)
		if err != nil {
			return err
		}
		received := []operand.Pair{{Key: "multicast", Value: value}}
		if nodes > 1 {
			received = append(received, operand.Pair{Key: "expected", Value: strconv.Itoa(min(nodes, MostNodes))})
		}
		p.Steps[i].Operands = append(p.Steps[i].Operands, received...)
	}
	return nil
}

// brings reports whether a step brings an image to the node.
func brings(step operand.Line) bool { return step.Word == "write" || step.Word == "fetch" }
