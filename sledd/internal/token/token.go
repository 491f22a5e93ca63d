// SPDX-License-Identifier: Apache-2.0

// Package token mints and checks bearer tokens. Only their SHA-256 is ever stored.
package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// Purpose of a node's token.
type Purpose string

// A boot token is the Sled system's; an operational token is the installed system's. A ticket proves one claim. A
// payload token confirms that a payload runs, once. The token of a machine that is not admitted yet has no record: see
// ClaimKey.
const (
	Boot        Purpose = "boot"
	Operational Purpose = "operational"
	Ticket      Purpose = "ticket"
	Payload     Purpose = "payload"
)

// maxRecords of one node; the oldest go first.
const maxRecords = 8

// Record is what is stored of a node's token.
type Record struct {
	SHA256     string    `json:"sha256"`
	Purpose    Purpose   `json:"purpose"`
	Generation int64     `json:"generation"`
	Issued     time.Time `json:"issued"`
	Expires    time.Time `json:"expires"`
	Seeded     bool      `json:"seeded,omitempty"` // the seed was handed out for it
	// Unwritten: its boot has not reported the end of a write of this generation.
	Unwritten bool `json:"unwritten,omitempty"`
	// Claim is the ID of the claim that a boot token, or a ticket for its own next boot, was issued to.
	Claim string `json:"claim,omitempty"`
	// Used: a request came with it. The claim token of the same boot ends with that.
	Used bool `json:"used,omitempty"`
	// Boot is the boot id that has used a ticket.
	Boot string `json:"boot,omitempty"`
}

// Stale reports whether the token is past half of its life, so that the node should get another.
func (r Record) Stale(now time.Time) bool {
	return now.After(r.Issued.Add(r.Expires.Sub(r.Issued) / 2))
}

var (
	form      = regexp.MustCompile(`^sled([bopt])_([0-9a-f]{12})_(0|[1-9][0-9]{0,18})_([0-9a-f]{64})$`)
	claimForm = regexp.MustCompile(`^sledc_([0-9a-f]{12})_0_([0-9a-f]{64,234})$`)
)

// Mint makes a token for a node and the record to store.
func Mint(purpose Purpose, address string, generation int64, now time.Time, life time.Duration) (string, Record) {
	return format(purpose, address, generation, random(), now, life)
}

func format(purpose Purpose, address string, generation int64, secret string, now time.Time,
	life time.Duration) (string, Record) {
	text := fmt.Sprintf("sled%c_%s_%s_%s", purpose[0], mac.Plain(address), strconv.FormatInt(generation, 10), secret)
	return text, Record{SHA256: Hash(text), Purpose: purpose, Generation: generation, Issued: now, Expires: now.Add(life)}
}

// Derive makes the installed system's token from the boot token that requests it, and the record to
// store: the same token each time. The holder of the boot token could request the derived one as
// well.
func Derive(boot, address string, generation int64, now time.Time, life time.Duration) (string, Record) {
	sum := hmac.New(sha256.New, []byte(boot))
	_, _ = fmt.Fprintf(sum, "operational %s %d", mac.Plain(address), generation) // a hash takes all
	return format(Operational, address, generation, hex.EncodeToString(sum.Sum(nil)), now, life)
}

// MintOperator makes a token for an operator.
func MintOperator() string { return "sledu_" + random() }

// MintLogin makes the cookie of a login.
func MintLogin() string { return random() }

func random() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: the Go runtime ends the process first
	return hex.EncodeToString(secret[:])
}

// Hash is what is stored of a token. Tokens are random enough that a plain SHA-256 cannot be searched.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Same compares a token with a stored hash in constant time.
func Same(text, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(Hash(text)), []byte(hash)) == 1
}

// Owner returns the MAC (hexadecimal digits only) that a token names, and whether it has the form
// of a node's token at all.
func Owner(text string) (string, bool) {
	if parts := claimForm.FindStringSubmatch(text); parts != nil {
		return parts[1], true
	}
	if parts := form.FindStringSubmatch(text); parts != nil {
		return parts[2], true
	}
	return "", false
}

// Find returns the index of the live record of a token, or -1. All records are compared, whichever fits.
func Find(records []Record, text string, now time.Time) int {
	found := -1
	for i, record := range records {
		if Same(text, record.SHA256) && now.Before(record.Expires) {
			found = i
		}
	}
	return found
}

// Add appends a record and drops those that ended, and the oldest beyond a limit.
func Add(records []Record, record Record, now time.Time) []Record {
	kept := make([]Record, 0, len(records)+1)
	for _, old := range records {
		if now.Before(old.Expires) {
			kept = append(kept, old)
		}
	}
	kept = append(kept, record)
	return kept[max(0, len(kept)-maxRecords):]
}

// IsClaim reports whether a text has the form of a claim token.
func IsClaim(text string) bool { return claimForm.MatchString(text) }

// WithoutClaim drops the boot tokens of a claim.
func WithoutClaim(records []Record, claim string) []Record {
	return slices.DeleteFunc(slices.Clone(records), func(record Record) bool { return record.Claim == claim })
}

// WithoutReturn drops the tickets that incumbents requested for their next boot.
func WithoutReturn(records []Record) []Record {
	return slices.DeleteFunc(slices.Clone(records), func(record Record) bool {
		return record.Purpose == Ticket && record.Claim != ""
	})
}

// Without drops all records of a purpose.
func Without(records []Record, purpose Purpose) []Record {
	var kept []Record
	for _, record := range records {
		if record.Purpose != purpose {
			kept = append(kept, record)
		}
	}
	return kept
}
