// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// mostSetting is the length of the value of a setting of the kernel.
const mostSetting = 1024

// mostWords is the size of entry point, command and environment together, in bytes, and that of all secrets.
const mostWords, mostSecrets = 8 << 10, 4 << 10

var (
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	reserved   = regexp.MustCompile(`^("?sled\..*|"?(init|rdinit|root|BOOTIF)|--)$`)
	setting    = regexp.MustCompile(`^/(sys|proc/sys)/[A-Za-z0-9._:@,+/-]{1,255}$`)
	secretName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
)

// checkJob refuses what no node could run.
func checkJob(spec api.JobSpec) error {
	if (spec.Node == "") == (len(spec.Labels) == 0) {
		return refusal.Value("body.node", spec.Node, errors.New("name a node, or the labels of one that waits, not both"))
	}
	if err := checkLabels(spec.Labels); err != nil {
		return err
	}
	words := slices.Concat(spec.Entrypoint, spec.Command, spec.Environment)
	size := 0
	for _, word := range words {
		if size += len(word); strings.ContainsRune(word, 0) {
			return refusal.Value("body.command", nil, errors.New("a word holds a NUL byte, which no program can get"))
		}
	}
	if size > mostWords {
		return refusal.Value("body.command", nil, fmt.Errorf("entry point, command and environment have %d bytes, at most "+
			"%d are allowed: put them into a file of the image or a secret", size, mostWords))
	}
	for i, one := range spec.Environment {
		if !variable.MatchString(one) {
			return refusal.Value(fmt.Sprintf("body.environment[%d]", i), nil, errors.New("want NAME=VALUE"))
		}
	}
	for i, one := range spec.Artefacts {
		if !path.IsAbs(one) || path.Clean(one) != one || one == "/" || strings.ContainsFunc(one, isControl) {
			return refusal.Value(fmt.Sprintf("body.artefacts[%d]", i), one, errors.New(
				"want an absolute path below /, without . and .. in it"))
		}
	}
	if err := cmp.Or(checkArguments(spec.Kernel, spec.Arguments), checkTune(spec.Tune)); err != nil {
		return err
	}
	return checkSecrets(spec.Secrets)
}

// checkArguments refuses arguments of a kernel that are those of the Sled system, which starts on it.
func checkArguments(kernel, arguments string) error {
	for _, word := range strings.Fields(arguments) {
		name, _, _ := strings.Cut(word, "=")
		if kernel != "" && reserved.MatchString(name) {
			return refusal.Value("body.kernel_arguments", word, errors.New("arguments of the Sled system cannot be given: "+
				"sled.*, init, rdinit, root, BOOTIF and --"))
		}
	}
	if strings.ContainsFunc(arguments, func(c rune) bool { return c < ' ' || c > '~' }) {
		return refusal.Value("body.kernel_arguments", arguments, errors.New("want printable ASCII"))
	}
	return nil
}

// checkTune refuses settings elsewhere than in the kernel.
func checkTune(settings []string) error {
	for i, one := range settings {
		where, value, found := strings.Cut(one, "=")
		if !found || !setting.MatchString(where) || path.Clean(where) != where || len(value) > mostSetting ||
			strings.ContainsFunc(value, isControl) {
			return refusal.Value(fmt.Sprintf("body.tune[%d]", i), one, errors.New("want PATH=VALUE, with a path below /sys "+
				"or /proc/sys without . and .. in it, and one line"))
		}
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// checkSecrets does not repeat what they are.
func checkSecrets(secrets map[string]string) error {
	size := 0
	for name, value := range secrets {
		if !secretName.MatchString(name) {
			return refusal.Value("body.secrets", name, errors.New("the name of a secret is that of its file: want A-Z a-z "+
				"0-9 _ . -, not . first, at most 64"))
		}
		size += len(value)
	}
	if size > mostSecrets {
		return refusal.Value("body.secrets", nil, fmt.Errorf("the secrets have %d bytes, at most %d are allowed", size,
			mostSecrets))
	}
	return nil
}
