// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// mostURLs is how many a node takes for one image (initrd/src/net/url.h).
const mostURLs = 16

// Relay is a cache of images beside nodes, with a sender of multicast at the same address.
type Relay struct {
	address      string
	label, value string // of the nodes that use it
}

// Relays are those of a site.
type Relays []Relay

// ParseRelays takes ADDRESS:LABEL=VALUE, each with an IPv4 address.
func ParseRelays(texts []string) (Relays, error) {
	relays := make(Relays, 0, len(texts))
	for _, text := range texts {
		address, rest, _ := strings.Cut(text, ":")
		label, value, found := strings.Cut(rest, "=")
		if ip, err := netip.ParseAddr(address); err != nil || !ip.Is4() || !found || label == "" || value == "" {
			return nil, fmt.Errorf("%.80q: want ADDRESS:LABEL=VALUE with an IPv4 address, as in 10.20.1.5:rack=rack_a", text)
		}
		if relays.Of(map[string]string{label: value}) != nil {
			return nil, fmt.Errorf("%.80q: nodes with label %s=%s have a relay already", text, label, value)
		}
		relays = append(relays, Relay{address, label, value})
	}
	return relays, nil
}

// Of returns the first relay for a node with these labels, nil if it has none.
func (r Relays) Of(labels map[string]string) *Relay {
	for i := range r {
		if value, found := labels[r[i].label]; found && value == r[i].value {
			return &r[i]
		}
	}
	return nil
}

// At is the sender on a relay: it has the port and the secret of the site's. Without a relay it is that of the site.
func (s *Sender) At(relay *Relay) *Sender {
	if s == nil || relay == nil {
		return s
	}
	_, port, _ := net.SplitHostPort(s.place)
	return &Sender{net.JoinHostPort(relay.address, port), s.secret}
}

// fetch lets the plan's write try the relay first, for an image directly below one of these URLs. The image's own URLs
// follow, so that a relay which fails costs time and nothing else.
func (p *Plan) fetch(relay *Relay, bases []string) {
	if relay == nil {
		return
	}
	for _, step := range p.Steps {
		for i, pair := range step.Operands {
			if !brings(step) || pair.Key != "image" {
				continue
			}
			urls := strings.Split(pair.Value, ",")
			if name := below(bases, urls); name != "" {
				first := "http://" + relay.address + "/images/" + name
				step.Operands[i].Value = strings.Join(append([]string{first}, urls[:min(len(urls), mostURLs-1)]...), ",")
			}
		}
	}
}

// below is the name of the file of the first URL that is directly below a base; "" if none is.
func below(bases, urls []string) string {
	for _, url := range urls {
		for _, base := range bases {
			if name, found := strings.CutPrefix(url, base+"/"); found && !strings.ContainsAny(name, "/?#") {
				return name
			}
		}
	}
	return ""
}
