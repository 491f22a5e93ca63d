// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/limit"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

const (
	// defaultBare is the number of discovered machines without facts, which anybody on the boot network can make up.
	defaultBare = 2000
	// defaultDiscovered is the number of discovered machines with facts.
	defaultDiscovered = 10000
	// discoveredLife is how long a discovered machine is kept that is not seen any more.
	discoveredLife = 24 * time.Hour
	// waiting is how long a discovered machine that polls may be silent. It is not replaced by another meanwhile.
	waiting = 5 * time.Minute
	// tidyPause is the time between two searches for machines that are not seen any more.
	tidyPause = time.Minute
)

// newcomers is the rate of machines, over the whole site, that are discovered.
var newcomers = limit.Rate{Burst: 500, Every: time.Second / 20}

// newcomersOfAddress is the rate of those from one address, and newcomersOfNetwork that of those behind routers from
// one /24 or /64. In a day, after which a silent machine is forgotten, neither takes as many places as there are for
// machines with facts.
var (
	newcomersOfAddress = limit.Rate{Burst: 256, Every: 10 * time.Second}
	newcomersOfNetwork = limit.Rate{Burst: 512, Every: 10 * time.Second}
)

// nearShare of the places for machines with facts is kept for those on a link of the boot server: 1 / nearShare.
const nearShare = 4

// Tidy forgets discovered machines that were not seen for a day, and ends the jobs of silent nodes, until the context
// ends.
func (in *Intake) Tidy(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(tidyPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		in.Expire(ctx)
		if err := in.EndSilent(ctx); err != nil && ctx.Err() == nil {
			log.Warn("the jobs of silent nodes cannot be ended", "error", err)
		}
	}
}

// Expire forgets discovered machines that were not seen for a day, and returns how many it found.
func (in *Intake) Expire(ctx context.Context) int {
	expired := 0
	for _, machine := range in.Hub.Discovered() {
		if machine.Seen.Before(in.DB.Now().Add(-discoveredLife)) && in.forget(ctx, machine) == nil {
			expired++
		}
	}
	return expired
}

// forget removes all records of a discovered machine, unless it was seen or declared meanwhile.
func (in *Intake) forget(ctx context.Context, machine events.Discovered) error {
	return in.DB.Update(ctx, machine.MAC, nil, func(tx *nodetx.Tx) error {
		if tx.Node() == nil && tx.Binding() == nil && tx.Detour() == nil && tx.Status().Phase == api.Discovered &&
			!tx.Status().Seen.After(machine.Seen) {
			tx.Forget()
		}
		return nil
	})
}

// discover makes room for a machine that is seen for the first time: the one without facts that was seen longest ago is
// forgotten for it. Those behind routers use up no budget of those on a link of the boot server.
func (in *Intake) discover(ctx context.Context, claim admission.Claim) error {
	now, address, near := in.DB.Now(), claim.Address, claim.Link == admission.LinkSame
	if claim.Link == admission.LinkOther {
		return refusal.New(refusal.Forbidden, "the address %s belongs to another machine: a machine that is not declared "+
			"is discovered only by its own MAC", address)
	}
	if address != "" && !in.newcomersOf.Allow(address, now, 1) ||
		address != "" && !near && !in.newcomersOfNetwork.Allow(networkOf(address), now, 1) {
		return refusal.New(refusal.TooMany, "%s, or its network, claims to be too many machines that are not declared: "+
			"wait", address)
	}
	if !in.newcomers.Allow(string(claim.Link), now, 1) {
		return refusal.New(refusal.Busy, "too many machines are discovered at the same time; try again")
	}
	bare, _ := in.discovered()
	if len(bare) < in.maxBare {
		return nil
	}
	return in.forget(ctx, oldest(bare))
}

// networkOf returns the /24 or /64 of an address.
func networkOf(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	bits := 64
	if parsed.Is4() {
		bits = 24
	}
	network, _ := parsed.Prefix(bits) // fits
	return network.String()
}

// describe makes room for a discovered machine that sends facts for the first time. One that polls is not forgotten for
// it.
func (in *Intake) describe(ctx context.Context, link admission.Link) error {
	_, described := in.discovered()
	room := in.maxDiscovered
	if link != admission.LinkSame {
		room -= room / nearShare
	}
	if len(described) < room {
		return nil
	}
	machine := oldest(described)
	if machine.Seen.After(in.DB.Now().Add(-waiting)) {
		return refusal.New(refusal.Busy, "%d machines are discovered and wait to be declared, no more are taken: "+
			"declare some, or delete them", len(described))
	}
	return in.forget(ctx, machine)
}

// discovered returns the discovered machines without and with facts.
func (in *Intake) discovered() (bare, described []events.Discovered) {
	for _, machine := range in.Hub.Discovered() {
		if machine.Facts {
			described = append(described, machine)
		} else {
			bare = append(bare, machine)
		}
	}
	return bare, described
}

func oldest(machines []events.Discovered) events.Discovered {
	first := machines[0]
	for _, machine := range machines {
		if machine.Seen.Before(first.Seen) {
			first = machine
		}
	}
	return first
}
