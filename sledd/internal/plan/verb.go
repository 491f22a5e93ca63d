// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

type verb struct {
	keys     map[string]func(string) error
	required []string
	last     bool
}

var (
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	signature = regexp.MustCompile(`^[A-Za-z0-9+/]{86}==$`)
)

var disk = map[string]func(string) error{"disk": CheckSelector, "keep": checkKeep}

// verbs is the table of contract/plan.md, "Steps".
var verbs = map[string]verb{
	"wipe":      {keys: with(disk, "level", oneOf("clear", "signatures")), required: []string{"disk"}},
	"write":     {keys: writeKeys(), required: []string{"disk", "image", "digest"}},
	"capture":   {keys: with(with(disk, "upload", CheckURL), "level", checkLevel), required: []string{"disk", "upload"}},
	"configure": {keys: configureKeys(), required: []string{"disk"}},
	"kexec":     {keys: kexecKeys(), required: []string{"disk"}, last: true},
	"reboot":    {last: true},
	"poweroff":  {last: true},
	"idle":      {last: true},
	"rescue":    {keys: map[string]func(string) error{"keys": checkKeys}, required: []string{"keys"}, last: true},
}

func configureKeys() map[string]func(string) error {
	keys := with(disk, "hostname", anything)
	keys["grow"] = oneOf("last", "none")
	keys["bootorder"] = oneOf("keep", "disk", "network")
	return keys
}

func writeKeys() map[string]func(string) error {
	keys := with(disk, "image", checkURLs)
	keys["digest"] = CheckDigest
	keys["signature"] = checkSignature
	keys["unsigned"] = oneOf("refuse", "allow")
	keys["mode"] = oneOf("full", "delta", "auto")
	keys["gaps"] = oneOf("discard", "zero", "keep")
	keys["verify"] = oneOf("none", "sample", "full")
	return keys
}

func kexecKeys() map[string]func(string) error {
	keys := with(disk, "append", anything)
	keys["fallback"] = oneOf("none", "reboot")
	keys["watchdog"] = checkWatchdog
	return keys
}

func with(keys map[string]func(string) error, key string, check func(string) error) map[string]func(string) error {
	more := map[string]func(string) error{key: check}
	for k, v := range keys {
		more[k] = v
	}
	return more
}

func (v verb) check(step operand.Line) error {
	for _, pair := range step.Operands {
		check, known := v.keys[pair.Key]
		if !known {
			return fmt.Errorf("unknown key %s", pair.Key)
		}
		if err := check(pair.Value); err != nil {
			return fmt.Errorf("%s: %w", pair.Key, err)
		}
	}
	for _, key := range v.required {
		if _, found := step.Get(key); !found {
			return fmt.Errorf("%s is missing", key)
		}
	}
	return nil
}

func anything(string) error { return nil }

func oneOf(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("%.40q is not one of %s", value, strings.Join(words, ", "))
		}
		return nil
	}
}

// CheckDigest says whether that is how the digest of an image is written.
func CheckDigest(value string) error {
	if !digest.MatchString(value) {
		return fmt.Errorf("%.80q is not sha256: and 64 hexadecimal digits", value)
	}
	return nil
}

func checkSignature(value string) error {
	if !signature.MatchString(value) {
		return fmt.Errorf("%.100q is not 64 bytes in base64", value)
	}
	return nil
}

func checkLevel(value string) error {
	if n, err := Number(value); err != nil || n < 1 || n > 19 {
		return fmt.Errorf("%.40q is not a number from 1 to 19", value)
	}
	return nil
}

// A time that the hardware can count and a kernel can start in.
func checkWatchdog(value string) error {
	if n, err := Number(value); err != nil || n < LeastWatchdog || n > MostWatchdog {
		return fmt.Errorf("%.40q is not a number of seconds from %d to %d", value, LeastWatchdog, MostWatchdog)
	}
	return nil
}

// checkKeys refuses what would not be the same lines in a file of authorized keys.
func checkKeys(value string) error {
	for _, line := range strings.Split(value, "\n") {
		if line == "" {
			return fmt.Errorf("an empty line: want one SSH public key a line, joined by LF")
		}
		if i := strings.IndexFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f }); i >= 0 {
			return fmt.Errorf("byte 0x%02x in a key", line[i])
		}
	}
	return nil
}

func checkURLs(value string) error {
	for _, one := range strings.Split(value, ",") {
		if err := CheckURL(one); err != nil {
			return err
		}
	}
	return nil
}

// CheckURL says whether a node can be told to fetch from there: http or https, with a host, and no comma, which separates URLs.
func CheckURL(text string) error {
	parsed, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("%.80q is not a URL", text)
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || strings.ContainsAny(text, ", ") {
		return fmt.Errorf("%.80q: want http://HOST/PATH or https://HOST/PATH, a comma in it written as %%2C", text)
	}
	return nil
}
