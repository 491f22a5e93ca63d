// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Verb is the definition of a step in the contract (contract/words/steps.yml).
type Verb struct {
	Last    bool      // stands only at the end of a plan
	Leaves  bool      // after its end, the Sled system of this boot runs no more
	Secret  bool      // its end is taken only from a node that may have secrets
	Changes bool      // what the disk held is gone once the step starts
	Phase   api.Phase // of the node while the step runs; empty: the step decides
	Stage   string    // its bar in timelines; empty: none

	checks   map[string]func(string) error
	required []string
}

// VerbOf looks a verb up.
func VerbOf(word string) (Verb, bool) {
	verb, known := verbs[word]
	return verb, known
}

// Verbs returns the words of all verbs, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

var (
	digest    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	signature = regexp.MustCompile(`^[A-Za-z0-9+/]{86}==$`)
	groupKey  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	dataName  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)
	jobID     = regexp.MustCompile(`^[a-z0-9]{1,32}$`)
	lowerUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	nfsExport = regexp.MustCompile(`^(\[[0-9a-fA-F:.]{1,253}\]|[A-Za-z0-9.-]{1,253}):/([A-Za-z0-9._-][A-Za-z0-9._/-]*)?$`)
	hyphenMAC = regexp.MustCompile(`^[0-9a-f]{2}(-[0-9a-f]{2}){5}$`)
	mountPath = regexp.MustCompile(`^(/[A-Za-z0-9._-]+)+$`)
	hostname  = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.|$))*$`)
)

func (v Verb) check(step operand.Line) error {
	for _, pair := range step.Operands {
		check, known := v.checks[pair.Key]
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

const ( // bytes
	mostHostname = 64 // HOST_NAME_MAX of Linux
	mostMount    = 255
	mostExport   = 1024
)

const mostSeconds = 7 * 24 * 3600

func anything(string) error { return nil }

func oneOf(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("%.40q is not one of %s", value, strings.Join(words, ", "))
		}
		return nil
	}
}

// CheckDigest checks the form of the digest of an image.
func CheckDigest(value string) error {
	if !digest.MatchString(value) {
		return fmt.Errorf("%.80q is not sha256: and 64 hexadecimal digits", value)
	}
	return nil
}

func checkImageName(value string) error { return imagefile.CheckName(value) }

func checkStatement(value string) error {
	_, err := imagefile.ParseStatement(value)
	return err
}

func checkSignature(value string) error {
	if !signature.MatchString(value) {
		return fmt.Errorf("%.100q is not 64 bytes in base64", value)
	}
	return nil
}

// checkHostname takes no name too: then the installed system keeps its own.
func checkHostname(value string) error {
	if len(value) > mostHostname || strings.HasSuffix(value, ".") || !hostname.MatchString(value) {
		return fmt.Errorf("%.80q is not a host name of at most 64 bytes", value)
	}
	return nil
}

func checkLevel(value string) error {
	if n, err := Number(value); err != nil || n < 1 || n > 19 {
		return fmt.Errorf("%.40q is not a number from 1 to 19", value)
	}
	return nil
}

func checkDataName(value string) error {
	if !dataName.MatchString(value) {
		return fmt.Errorf("%.80q is not the name of a data disk: want a-z 0-9 -, first a letter or digit, "+
			"at most 31 bytes", value)
	}
	return nil
}

func checkUUID(value string) error {
	if !lowerUUID.MatchString(value) {
		return fmt.Errorf("%.80q is not a UUID in lower case", value)
	}
	return nil
}

func checkStamp(value string) error {
	if parts := strings.Split(value, "/"); len(parts) == 5 && lowerUUID.MatchString(parts[0]) &&
		lowerUUID.MatchString(parts[1]) && hyphenMAC.MatchString(parts[2]) {
		_, generation := Number(parts[3])
		_, run := Number(parts[4])
		if generation == nil && run == nil {
			return nil
		}
	}
	return fmt.Errorf("%.200q is not a stamp, FLEET/EPOCH/MAC/GENERATION/RUN", value)
}

func checkMount(value string) error {
	special := func(name string) bool { return name == "." || name == ".." }
	if len(value) > mostMount || !mountPath.MatchString(value) ||
		slices.ContainsFunc(strings.Split(value, "/"), special) {
		return fmt.Errorf("%.80q is not a path of A-Z a-z 0-9 . _ - / from the root, without . and .., of at most %d bytes",
			value, mostMount)
	}
	return nil
}

func checkJob(value string) error {
	if !jobID.MatchString(value) {
		return fmt.Errorf("%.80q is not the id of a job: want a-z 0-9, at most 32 bytes", value)
	}
	return nil
}

// CheckExport checks an NFS export.
func CheckExport(value string) error {
	if len(value) > mostExport || !nfsExport.MatchString(value) || strings.Contains(value, "/..") {
		return fmt.Errorf("%.200q is not an NFS export: want HOST:/PATH, of A-Z a-z 0-9 . _ - /", value)
	}
	return nil
}

func checkSeconds(value string) error {
	if n, err := Number(value); err != nil || n < 1 || n > mostSeconds {
		return fmt.Errorf("%.40q is not a number of seconds from 1 to %d", value, mostSeconds)
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

func checkNodes(value string) error {
	if n, err := Number(value); err != nil || n < 1 || n > MostNodes {
		return fmt.Errorf("%.40q is not a number of nodes from 1 to %d", value, MostNodes)
	}
	return nil
}

// checkMulticast does not repeat the key in its error.
func checkMulticast(value string) error {
	place, key, hasKey := strings.Cut(value, "/")
	host, port, _ := strings.Cut(place, ":")
	address, err := netip.ParseAddr(host)
	if n, wrong := Number(port); err != nil || !address.Is4() || wrong != nil || n < 1 || n > math.MaxUint16 {
		return fmt.Errorf("%.40q is not the ADDRESS:PORT of a sender, with an IPv4 address", place)
	}
	if hasKey && !groupKey.MatchString(key) {
		return errors.New("the key of the packets is not 32 hexadecimal digits")
	}
	return nil
}

// checkKeys refuses what would not be the same lines in a file of authorized keys.
func checkKeys(value string) error {
	for _, line := range strings.Split(value, "\n") {
		if line == "" {
			return fmt.Errorf("an empty line: want one SSH public key per line, joined by LF")
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

// CheckURL reports whether a node can fetch from a URL: http or https, with a host, and no comma,
// which separates URLs.
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
