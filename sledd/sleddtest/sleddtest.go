// SPDX-License-Identifier: Apache-2.0

// Package sleddtest runs a real sledd inside a test, with machines that behave as the Sled system
// does. It is for tests of sledd and of its clients.
package sleddtest

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/audit"
	"github.com/sled-fleet/sled/sledd/internal/boot"
	"github.com/sled-fleet/sled/sledd/internal/capacity"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/erasure"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/link"
	"github.com/sled-fleet/sled/sledd/internal/metrics"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/quirk"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/seal"
	"github.com/sled-fleet/sled/sledd/internal/server"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// AdminToken is that of operator admin of every Sledd.
const AdminToken = "0123456789abcdef0123456789abcdef"

// Version is that of every Sledd.
const Version = "9.9.9"

// Options are the differences from the sledd of Start. Their types are internal to sledd: other parts use Start.
type Options struct {
	Store store.Store      // default: one in memory, which no disk and no deadline makes fail
	Now   func() time.Time // default: the real clock
	// ConsoleDirectory holds the records of consoles.
	ConsoleDirectory string
	// UploadDirectory is where files of jobs arrive; default: sledd does not know it.
	UploadDirectory string
	// ReadTimeout is the time for a request to arrive; default: as in production.
	ReadTimeout time.Duration
	// Heartbeat is the time between two checks of the token of a stream; default: as in production.
	Heartbeat time.Duration
	// UserDataKeys is a file of keys that seal user data; default: it is stored in clear.
	UserDataKeys string
	// Quirks is a file of machines that are not started by kexec; those that sledd ships are in force in any case.
	Quirks string
	// ImageKeys are those of who signs images.
	ImageKeys imagefile.Keys
	// Sender of images by multicast.
	Sender *plan.Sender
	// Relays of images.
	Relays plan.Relays
	// Routed: it judges addresses of loopback as if it listened on another one.
	Routed bool
	// Links is the neighbour table that claims are compared with.
	Links link.Table
	// Socket is the path of a unix socket to serve on too, as for a web server in front.
	Socket string
	// Address is where it listens, HOST:PORT; default: a free port of loopback.
	Address string
}

// Sledd is a running one, in process. Its methods end the test when they fail.
type Sledd struct {
	URL   string // http://127.0.0.1:PORT
	Token string // of operator admin

	// Fleet, Hub and Capacity are what runs behind URL, for sledd's own tests. Resume makes new ones.
	Fleet    *fleet.Fleet
	Hub      *events.Hub
	Capacity *capacity.Gauge

	// Lost is called with each request of a node whose response is lost: it is then sent again. nil: none is lost.
	Lost func(method, path string)

	t       testing.TB
	options Options
	client  *api.Client
	address string
	stop    func() // nil: stopped
	nodes   *intake.Intake
}

// Start runs a sledd on loopback, with a store in memory, until the test ends.
func Start(t testing.TB) *Sledd {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith is Start with options.
func StartWith(t testing.TB, options Options) *Sledd {
	t.Helper()
	if options.Store == nil {
		options.Store = &storetest.Memory{}
	}
	s := &Sledd{Token: AdminToken, t: t, options: options}
	t.Cleanup(s.Stop)
	s.serve(listen(t, cmp.Or(options.Address, "127.0.0.1:0")))
	if _, err := s.Fleet.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Fleet.SetAdmin(t.Context(), s.Token); err != nil {
		t.Fatal(err)
	}
	client, err := api.New(api.Config{Server: s.URL, Token: s.Token})
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	return s
}

// listen waits until an address is free, which somebody may have used for a moment.
func listen(t testing.TB, address string) net.Listener {
	t.Helper()
	var listener net.Listener
	patience.Until(t, address+" is free", func() (free bool) {
		var err error
		listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		return err == nil
	})
	return listener
}

// erasureKey signs the records of erased disks.
var erasureKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// images are where nodes fetch images, and upload is where they put captured ones.
var images, upload = []string{"http://10.77.0.1/images", "http://10.77.0.2/images"}, "https://10.77.0.1/upload"

// system is what scripts of nodes start.
var system = boot.System{URL: "http://10.77.0.1", Flavour: "generic", Servers: []string{"https://10.77.0.1"}}

// load reads the files of the options.
func (s *Sledd) load() (*quirk.List, *seal.Box) {
	quirks, err := quirk.Load(s.options.Quirks)
	if err != nil {
		s.t.Fatal(err)
	}
	box, err := seal.Load(s.options.UserDataKeys)
	if err != nil {
		s.t.Fatal(err)
	}
	return quirks, box
}

// serve starts all of sledd but the store.
func (s *Sledd) serve(listener net.Listener) {
	quirks, box := s.load()
	log, measure := slog.New(slog.DiscardHandler), metrics.New(Version)
	s.Hub = events.New(s.options.Store, log)
	measure.Watch(s.Hub)
	s.Capacity = capacity.New(size(s.options.Store), log)
	measured := measure.Measure(s.Capacity.Count(s.options.Store))
	db := &nodetx.DB{Store: audit.Watched{Store: measured}, Clock: s.options.Now, Kexec: measure.Kexec, Box: box,
		Policy: nodetx.Policy{Rules: quick()}}
	db.Mirror(s.Hub)
	s.Fleet = &fleet.Fleet{DB: db, Quirks: quirks, ImageURLs: images, UploadURL: upload,
		Multicast: s.options.Sender != nil, Recorded: console.Directory(s.options.ConsoleDirectory).Has}
	measure.Backup(s.Fleet.NewestBackup)
	erasures := erasure.New(db.Store, erasureKey)
	nodes := intake.New(intake.Options{DB: db, Hub: s.Hub, TokenLife: time.Hour, Observe: measure, Quirks: quirks,
		Erasures: erasures, Capacity: s.Capacity, ImageKeys: s.options.ImageKeys, ImageURLs: images, UploadURL: upload,
		Uploads: &intake.Uploads{Directory: s.options.UploadDirectory}, Sender: s.options.Sender,
		Relays: s.options.Relays, Consoles: console.Directory(s.options.ConsoleDirectory), System: system})
	measure.Gate(nodes.Gate)
	stopping, stop := context.WithCancel(context.Background())
	watching, end := context.WithCancel(context.Background())
	web := httptest.NewUnstartedServer(nil)
	web.Config = server.Web((&server.Server{Fleet: s.Fleet, Intake: nodes, Rollouts: rolloutstore.New(db),
		Hub: s.Hub, Capacity: s.Capacity, Backup: backups(s.options.Store),
		Audit: audit.New(measured, log, db.Now), Erasures: erasures,
		Metrics: measure, Log: log, Version: Version, Stopping: stopping, Heartbeat: s.options.Heartbeat,
		Consoles: console.Directory(s.options.ConsoleDirectory), Links: s.options.Links,
		Loopback: !s.options.Routed}).Handler(), log)
	web.Config.ReadTimeout = cmp.Or(s.options.ReadTimeout, web.Config.ReadTimeout)
	_ = web.Listener.Close() // the one it made itself
	web.Listener = listener
	web.Start()
	s.URL, s.address = web.URL, listener.Addr().String()
	var running sync.WaitGroup
	behind := s.listenSocket()
	if behind != nil {
		running.Go(func() { _ = web.Config.Serve(behind) })
	}
	s.nodes = nodes
	running.Go(func() { s.Hub.Run(watching) })
	running.Go(func() { nodes.KeepProgress(watching) })
	running.Go(func() { s.Capacity.Run(watching) })
	running.Go(func() { nodes.WatchConsoles(watching, log) })
	s.stop = func() {
		stop()
		if behind != nil {
			_ = behind.Close()
		}
		web.Close()
		end()
		running.Wait()
	}
}

// listenSocket opens the socket of the options; nil: there is none.
func (s *Sledd) listenSocket() net.Listener {
	if s.options.Socket == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", s.options.Socket)
	if err != nil {
		s.t.Fatal(err)
	}
	return listener
}

// quick is rules by which a machine that restarts succeeds itself at once.
func quick() admission.Rules {
	rules := admission.DefaultRules()
	rules.Silence, rules.Answer = 0, 0
	return rules
}

// size returns the store's own size, or that of one that has none to tell.
func size(s store.Store) capacity.Sized {
	if sized, ok := s.(capacity.Sized); ok {
		return sized
	}
	return boundless{}
}

type boundless struct{}

func (boundless) Usage(context.Context) (store.Usage, error) { return store.Usage{}, nil }
func (boundless) Compact(context.Context, int64) error       { return nil }
func (boundless) Heal(context.Context) error                 { return nil }

// backups returns what makes backups of a store; nil: nothing.
func backups(s store.Store) func(context.Context) (io.ReadCloser, error) {
	if etcd, ok := s.(*store.Etcd); ok {
		return etcd.Backup
	}
	return nil
}

// Stop is an outage: requests that run end, nobody listens at URL any more, and the store stays.
func (s *Sledd) Stop() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// Resume ends an outage: another sledd at the same URL, on the same store.
func (s *Sledd) Resume() {
	s.t.Helper()
	if s.stop != nil {
		s.t.Fatal("sledd runs already")
	}
	s.serve(listen(s.t, s.address))
}

// EndSilent ends the jobs of silent nodes, as sledd does each minute.
func (s *Sledd) EndSilent() {
	s.t.Helper()
	if err := s.nodes.EndSilent(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// Socket is the path of its unix socket.
func (s *Sledd) Socket() string { return s.options.Socket }

// Client speaks to it as admin.
func (s *Sledd) Client() *api.Client { return s.client }

// Stamp is that of a plan of the nth node (contract/plan.md, "Stamps").
func (s *Sledd) Stamp(n int, generation, run int64) string {
	s.t.Helper()
	tx, err := s.Fleet.Load(s.t.Context(), MAC(n))
	if err != nil {
		s.t.Fatal(err)
	}
	return tx.Stamp(generation, run)
}

// HashOf is the hash that stands for user data in its bindings.
func (s *Sledd) HashOf(userData string) string {
	s.t.Helper()
	key, err := s.Fleet.HashKey(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return api.UserDataHash(key, userData)
}
