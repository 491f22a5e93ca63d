// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/double"
)

const (
	group, others, spares = 'n', 'o', 's' // of nodes
	spareCount            = 2000
	stepSeconds           = 60
	atATime               = 64 // others that are imaged
	otherCount            = 10_000
	otherSeconds          = 30
)

// hello powers all nodes on at the same moment, and images them once all wait.
func (b *bench) hello(ctx context.Context) error {
	s, macs, err := b.declared(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	fleet := s.powerOn(ctx, macs, 0, double.Settings{})
	defer fleet.off()
	if err := b.gathers(ctx, s, fleet, "until all wait, powered on together", "15 s"); err != nil {
		return err
	}
	if err := b.dies(ctx, s); err != nil {
		return err
	}
	return b.plans(ctx, s, fleet, macs)
}

// boot powers all nodes on within one second.
func (b *bench) boot(ctx context.Context) error {
	s, macs, err := b.declared(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	fleet := s.powerOn(ctx, macs, time.Second, double.Settings{})
	defer fleet.off()
	return b.gathers(ctx, s, fleet, "until all wait, powered on within 1 s", "15 s")
}

// declared is a site with all nodes.
func (b *bench) declared(ctx context.Context) (*site, []string, error) {
	s, err := b.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	begin := time.Now()
	macs, err := s.declare(ctx, group, b.nodes)
	if err == nil {
		b.note("declare them, 16 writers", time.Since(begin).Seconds(), "s", "")
		_, err = s.declare(ctx, spares, spareCount)
	}
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return s, macs, nil
}

// gathers waits until all nodes wait for a plan.
func (b *bench) gathers(ctx context.Context, s *site, fleet *fleet, figure, limit string) error {
	operators, begin, before := s.operate(ctx), time.Now(), s.cpu()
	err := until(ctx, func(ctx context.Context) bool { return s.waiting(ctx) >= b.nodes })
	b.note(figure, time.Since(begin).Seconds(), "s", limit)
	b.note("CPU of sledd", s.cpu()-before, "s", "")
	b.operated(operators)
	refused, again := fleet.tally.refusals()
	b.note("requests refused", float64(refused), "", "")
	b.note("nodes refused more than once", 100*float64(again)/float64(b.nodes), "%", "1 %")
	b.note("memory of sledd, all wait", s.megabytes(), "MiB", "600 MiB")
	return err
}

// operated notes what operators saw.
func (b *bench) operated(operators *operators) {
	operators.end()
	if len(operators.binds) > 0 && len(operators.lists) > 0 {
		b.note("slowest bind of an operator", slices.Max(operators.binds), "s", "1 s")
		b.note("slowest list of all nodes", slices.Max(operators.lists), "s", "5 s")
	}
	b.note("requests of operators that failed", float64(operators.failed), "", "")
}

// dies kills sledd while all nodes wait, and starts it again.
func (b *bench) dies(ctx context.Context, s *site) error {
	begin := time.Now()
	s.kill()
	if err := s.start(ctx); err != nil {
		return err
	}
	b.note("kill -9 until it serves", time.Since(begin).Seconds(), "s", "")
	operators := s.operate(ctx)
	err := until(ctx, func(ctx context.Context) bool { return s.waiting(ctx) >= b.nodes })
	b.note("kill -9 until all wait again", time.Since(begin).Seconds(), "s", "15 s")
	b.note("CPU of sledd", s.cpu(), "s", "")
	b.operated(operators)
	b.note("memory of sledd, all wait", s.megabytes(), "MiB", "600 MiB")
	return err
}

// plans images all nodes.
func (b *bench) plans(ctx context.Context, s *site, fleet *fleet, macs []string) error {
	begin, before := time.Now(), s.cpu()
	if err := s.bindAll(ctx, macs); err != nil {
		return err
	}
	err := fleet.operational(ctx)
	b.note("bind all until the last is operational", time.Since(begin).Seconds(), "s", "60 s")
	b.note("CPU of sledd", s.cpu()-before, "s", "")
	return err
}

// speed is how many starts and ends of steps sledd takes.
type speed struct{ second, cpuSecond float64 }

// progress images other nodes while all nodes wait, while they write and report as requested, and ten times as often.
func (b *bench) progress(ctx context.Context) error {
	var best speed
	for _, c := range []struct {
		name, limit string
		hurry       float64
	}{{"while all wait", "", 0}, {"while all write, reports as requested", "90 %", 1},
		{"while all write, ten times as many reports", "50 %", 10}} {
		found, err := b.beside(ctx, c.hurry, c.name)
		if err != nil {
			return err
		}
		b.note("starts and ends of others per second, "+c.name, found.second, "", "")
		b.note("the same per CPU second of sledd", found.cpuSecond, "", "")
		if best.second == 0 {
			best = found
			continue
		}
		b.note("part of those while all wait", 100*found.second/best.second, "%", c.limit)
		b.note("the same per CPU second of sledd", 100*found.cpuSecond/best.cpuSecond, "%", "")
	}
	return nil
}

// beside images others beside all nodes.
func (b *bench) beside(ctx context.Context, hurry float64, name string) (speed, error) {
	s, macs, err := b.declared(ctx)
	if err != nil {
		return speed{}, err
	}
	defer s.close()
	rest, err := s.declare(ctx, others, otherCount)
	if err == nil {
		err = s.bindAll(ctx, rest)
	}
	if err != nil {
		return speed{}, err
	}
	fleet := s.powerOn(ctx, macs, 0, double.Settings{StepSeconds: stepSeconds, Hurry: hurry})
	defer fleet.off()
	err = until(ctx, func(ctx context.Context) bool { return s.waiting(ctx) >= b.nodes })
	if err == nil && hurry > 0 {
		if err = s.bindAll(ctx, macs); err == nil {
			err = until(ctx, func(context.Context) bool { return fleet.tally.ended("wipe") >= b.nodes*9/10 })
		}
	}
	if err != nil {
		return speed{}, err
	}
	before, operators := s.cpu(), s.operate(ctx)
	took, tally, err := s.imageOthers(ctx, rest)
	operators.end()
	b.note("p99 of operators, "+name, max(operators.binds.p99(), operators.lists.p99()), "s", "2 s")
	steps := float64(tally.steps())
	return speed{steps / took.Seconds(), steps / (s.cpu() - before)}, err
}

// imageOthers images nodes, some at a time, for a while.
func (s *site) imageOthers(ctx context.Context, macs []string) (time.Duration, *tally, error) {
	all, begin := newTally(), time.Now()
	limit, cancel := context.WithTimeout(ctx, otherSeconds*time.Second)
	defer cancel()
	err := pool(atATime, len(macs), func(i int) error {
		one := &double.Fleet{Dir: s.file("machines"), History: all, Settings: double.Settings{Server: "http://" + s.address}}
		err := one.Run(limit, macs[i:i+1])
		if errors.Is(err, context.DeadlineExceeded) { // that is how it ends
			err = nil
		}
		return err //nolint:wrapcheck // names the machine
	})
	return time.Since(begin), all, err
}
