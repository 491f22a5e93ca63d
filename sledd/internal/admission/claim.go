// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/base32"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Answer is the response to a hello.
type Answer struct {
	Code  string
	Nonce string
	Level Level
	Want  []Want
}

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var (
	codeForm  = regexp.MustCompile(`^[` + digits + `]{4}-[` + digits + `]{4}$`)
	nonceForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	wants     = []Want{WantSilence, WantWindow, WantConsole, WantPerson, WantTPM}
	base      = base32.NewEncoding(digits).WithPadding(base32.NoPadding)
)

// Code writes 40 random bits as a claim code.
func Code(random [5]byte) string {
	text := base.EncodeToString(random[:])
	return text[:4] + "-" + text[4:]
}

// IsCode reports whether a text is a claim code as it is printed.
func IsCode(text string) bool { return codeForm.MatchString(text) }

// ParseCode reads a claim code as people write it: in either case, with or without the hyphen, O for 0, I and L for 1.
func ParseCode(text string) (string, error) {
	plain := strings.NewReplacer("-", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(text)))
	if len(plain) == 8 {
		if code := plain[:4] + "-" + plain[4:]; codeForm.MatchString(code) {
			return code, nil
		}
	}
	return "", fmt.Errorf("%.40q is not a claim code as in K7QF-2M9D", text)
}

// Text writes the answer.
func (a Answer) Text() (string, error) {
	list := make([]string, len(a.Want))
	for i, want := range a.Want {
		list[i] = string(want)
	}
	line, err := operand.Encode(operand.Line{Word: "admission", Operands: []operand.Pair{
		{Key: "code", Value: a.Code}, {Key: "nonce", Value: a.Nonce}, {Key: "level", Value: a.Level.String()},
		{Key: "want", Value: strings.Join(list, ",")}}})
	return "claim 1\n" + line + "\n", err //nolint:wrapcheck // complete
}

// ParseAnswer reads an answer.
func ParseAnswer(text string) (Answer, error) {
	lines, err := readText(text, "claim 1")
	if err != nil {
		return Answer{}, err
	}
	if len(lines) != 1 || lines[0].Word != "admission" {
		return Answer{}, fmt.Errorf("want claim 1 and one line admission")
	}
	var answer Answer
	var level, list string
	known := operands{
		"code":  {true, matches(codeForm), &answer.Code},
		"nonce": {true, matches(nonceForm), &answer.Nonce},
		"level": {true, func(value string) error { _, err := ParseLevel(value); return err }, &level},
		"want":  {true, checkWants, &list},
	}
	if err := known.read(lines[0]); err != nil {
		return Answer{}, fmt.Errorf("line 2: %w", err)
	}
	answer.Level, _ = ParseLevel(level) // checked
	for _, want := range split(list) {
		answer.Want = append(answer.Want, Want(want))
	}
	return answer, nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func checkWants(list string) error {
	seen := map[string]bool{}
	for _, want := range split(list) {
		if !slices.Contains(wants, Want(want)) || seen[want] {
			return fmt.Errorf("%.40q is not known, or comes twice", want)
		}
		seen[want] = true
	}
	return nil
}
