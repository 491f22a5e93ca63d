// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

const domainPart = `[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?`

var (
	namePattern   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{0,14}$`)
	everybody     = netip.AddrFrom4([4]byte{255, 255, 255, 255})
	domainPattern = regexp.MustCompile("^" + domainPart + `(\.` + domainPart + ")*$")
)

func fault(path, format string, values ...any) error {
	return fmt.Errorf(path+": "+format, values...)
}

// shown is a value as a message has it.
func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("%.60q", value)
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return fmt.Sprint(value)
}

func shownKeys(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.80q", strings.Join(keys, ", "))
}

func boolean(path string, value any) (any, error) {
	if _, ok := value.(bool); !ok {
		return nil, fault(path, "%s, want true or false", shown(value))
	}
	return value, nil
}

// standard leaves out a value that an absent one means.
func standard(usual any, read reader) reader {
	return func(path string, value any) (any, error) {
		found, err := read(path, value)
		if found == usual {
			found = nil
		}
		return found, err
	}
}

func only(wanted any) reader {
	return func(path string, value any) (any, error) {
		if value != wanted {
			return nil, fault(path, "%s, want %v", shown(value), wanted)
		}
		return value, nil
	}
}

func integer(least, most int64) reader {
	return func(path string, value any) (any, error) {
		number, ok := value.(float64)
		if !ok || number != math.Trunc(number) || number < float64(least) || number > float64(most) {
			return nil, fault(path, "%s, want a number from %d to %d", shown(value), least, most)
		}
		return int64(number), nil
	}
}

func oneOf(words ...string) reader {
	return func(path string, value any) (any, error) {
		word, ok := value.(string)
		if !ok || !slices.Contains(words, word) {
			return nil, fault(path, "%s, want one of %s", shown(value), strings.Join(words, ", "))
		}
		return word, nil
	}
}

func name(path string, value any) (any, error) {
	text, ok := value.(string)
	if !ok || !namePattern.MatchString(text) {
		return nil, fault(path, "%s is no name of an interface: a letter, then letters, digits, _ . -, at most 15",
			shown(value))
	}
	return text, nil
}

func domain(path string, value any) (any, error) {
	text, ok := value.(string)
	if !ok || len(text) > 253 || !domainPattern.MatchString(text) {
		return nil, fault(path, "%s is no domain, such as a.example", shown(value))
	}
	return text, nil
}

func mac(path string, value any) (any, error) {
	text, _ := value.(string)
	found, err := api.ParseMAC(text)
	if err != nil {
		return nil, fault(path, "%w", err)
	}
	return found, nil
}

func ip(path string, value any) (netip.Addr, error) {
	text, _ := value.(string)
	found, err := netip.ParseAddr(text)
	if err != nil || found.Zone() != "" || found.Is4In6() {
		return found, fault(path, "%s is no address, such as 10.0.0.1 or fd00::1", shown(value))
	}
	if found.IsUnspecified() || found.IsMulticast() || found.IsLoopback() || found == everybody {
		return found, fault(path, "%s is not the address of a machine", found)
	}
	return found, nil
}

func server(path string, value any) (any, error) {
	found, err := ip(path, value)
	return found.String(), err
}

func gateway(family string) reader {
	return func(path string, value any) (any, error) {
		found, err := ip(path, value)
		if err == nil && found.Is4() != (family == "IPv4") {
			err = fault(path, "%s is no address of %s", found, family)
		}
		return found.String(), err
	}
}

// address is one of an interface, with the length of its prefix.
func address(path string, value any) (any, error) {
	text, _ := value.(string)
	bare, length, _ := strings.Cut(text, "/")
	found, err := ip(path, bare)
	if err != nil {
		return nil, err
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Bits() == 0 {
		return nil, fault(path, "%s has the prefix length %q, want 1 to %d behind a /", found, length, found.BitLen())
	}
	return prefix.String(), hostOf(path, prefix)
}

// hostOf refuses what is the address of a network and not of a machine.
func hostOf(path string, prefix netip.Prefix) error {
	host, bits := prefix.Addr(), prefix.Addr().BitLen()-prefix.Bits()
	switch {
	case bits < 2:
		return nil
	case host == prefix.Masked().Addr():
		return fault(path, "%s is the address of the network %s itself", host, prefix)
	case host.Is4() && !prefix.Contains(host.Next()):
		return fault(path, "%s is the broadcast address of %s", host, prefix.Masked())
	}
	return nil
}

var routeKeys = object{"to": destination, "via": server, "on-link": standard(false, boolean),
	"metric": integer(0, math.MaxUint32)}.needs("to", "via")

func readRoute(path string, value any) (any, error) {
	read, err := routeKeys(path, value)
	if err != nil {
		return nil, err
	}
	found, _ := read.(map[string]any)
	to, via := fmt.Sprint(found["to"]), fmt.Sprint(found["via"])
	if to == "default" {
		found["to"] = everything(via)
	} else if strings.Contains(to, ":") != strings.Contains(via, ":") {
		return nil, fault(path, "to %s via %s: one is IPv4, the other IPv6", to, via)
	}
	return found, nil
}

// everything is the destination of a default route by way of an address.
func everything(via string) string {
	if strings.Contains(via, ":") {
		return "::/0"
	}
	return "0.0.0.0/0"
}

func destination(path string, value any) (any, error) {
	if value == "default" {
		return value, nil
	}
	text, _ := value.(string)
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return nil, fault(path, "%s, want default or a network such as 10.0.0.0/8", shown(value))
	}
	if prefix != prefix.Masked() {
		return nil, fault(path, "%s has bits behind its prefix: want %s", prefix, prefix.Masked())
	}
	return prefix.String(), nil
}
