// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"fmt"
	"regexp"
	"time"
)

// Statement is what the signature of an image is over (contract/image.md, "Signature").
type Statement struct {
	Name   string // of the image
	Line   string // the images that replace one another
	Signed time.Time
	Digest string // sha256:HEX of the image's index
}

const (
	dateForm = "2006-01-02T15:04:05Z"
	nameForm = `[a-z0-9][a-z0-9._-]{0,127}`
)

var (
	namePattern      = regexp.MustCompile(`^` + nameForm + `$`)
	statementPattern = regexp.MustCompile(`^image 2 name=(` + nameForm + `) line=(` + nameForm +
		`) signed=([2-9][0-9TZ:-]{19}) digest=(sha256:[0-9a-f]{64})$`)
)

// String is the statement as it is signed.
func (s Statement) String() string {
	return fmt.Sprintf("image 2 name=%s line=%s signed=%s digest=%s", s.Name, s.Line,
		s.Signed.UTC().Format(dateForm), s.Digest)
}

// ParseStatement accepts only the text that String returns.
func ParseStatement(text string) (Statement, error) {
	words := statementPattern.FindStringSubmatch(text)
	if words == nil {
		return Statement{}, fmt.Errorf("%.400q is not a statement of an image: want image 2 name=NAME line=LINE "+
			"signed=YYYY-MM-DDTHH:MM:SSZ digest=sha256:HEX", text)
	}
	signed, err := time.Parse(dateForm, words[3])
	if err != nil {
		return Statement{}, fmt.Errorf("statement of an image: signed=%s is not a date YYYY-MM-DDTHH:MM:SSZ", words[3])
	}
	return Statement{Name: words[1], Line: words[2], Signed: signed, Digest: words[4]}, nil
}

// CheckName checks the form of the name of an image or a line.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%.140q is not the name of an image: want a-z 0-9 . _ -, first a letter or digit, at most 128",
			name)
	}
	return nil
}

var version = regexp.MustCompile(`-v[0-9][0-9.]*$`)

// LineOf is the line of an image if none is given: its name without a version such as -v7 at the end.
func LineOf(name string) string {
	if at := version.FindStringIndex(name); at != nil && at[0] > 0 {
		return name[:at[0]]
	}
	return name
}

// Fits checks that a statement is of this image.
func (s Statement) Fits(name, digest string) error {
	switch {
	case s.Name != name:
		return fmt.Errorf("the statement was signed for image %s, this is image %s", s.Name, name)
	case s.Digest != digest:
		return fmt.Errorf("the statement is of digest %s, image %s has %s", s.Digest, name, digest)
	}
	return nil
}
