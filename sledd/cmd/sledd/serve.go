// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/imagefile"
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
	"github.com/sled-fleet/sled/sledd/internal/multicast"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/quirk"
	"github.com/sled-fleet/sled/sledd/internal/rolloutstore"
	"github.com/sled-fleet/sled/sledd/internal/seal"
	"github.com/sled-fleet/sled/sledd/internal/server"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// stopTime is how long requests may take to end after SIGTERM.
	stopTime = 10 * time.Second
	// preparePause before a store that did not answer is prepared again.
	preparePause = 2 * time.Second
)

// serve runs until the context ends or the listener fails.
func serve(ctx context.Context, s settings) error {
	log, err := logger(s)
	if err != nil {
		return err
	}
	given, err := read(s)
	if err != nil {
		return err
	}
	etcd, err := open(ctx, s, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := etcd.Close(); err != nil {
			log.Error("close the store", "error", err)
		}
	}()
	listener, err := listen(ctx, s) // only now: a process that waits for its store accepts nothing
	if err != nil {
		return err
	}
	defer listener.Close()
	parts := assemble(s, etcd, given, log)
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	var recorded sync.WaitGroup
	recorded.Go(func() { parts.Audit.Run(background) })
	recorded.Go(func() { parts.Intake.KeepProgress(background) })
	defer func() {
		end()
		recorded.Wait()
	}()
	go parts.Hub.Run(background)
	go parts.Capacity.Run(background)
	go parts.Intake.Tidy(background, log)
	go parts.Intake.WatchConsoles(background, log)
	go parts.Fleet.KeepUses(background)
	go parts.Fleet.FollowStarts(background, log)
	if err := prepare(ctx, parts.Fleet, given.token, log); err != nil {
		return err
	}
	parts.Stopping, parts.Loopback = ctx, onLoopback(listener.Addr())
	handler := parts.Handler() //nolint:contextcheck // requests bring their own
	return run(ctx, listener, handler, log)
}

// files is what the files hold that the settings name.
type files struct {
	quirks *quirk.List
	token  string // of operator admin
	box    *seal.Box
	keys   imagefile.Keys
	sender *plan.Sender // of multicast; nil: none
	relays plan.Relays
	erases ed25519.PrivateKey // signs records of erased disks
}

func read(s settings) (files, error) {
	var given files
	var err error
	if given.quirks, err = quirk.Load(s.quirks); err != nil {
		return given, fmt.Errorf("--quirks: %w", err)
	}
	if given.box, err = seal.Load(s.userDataKeys); err != nil {
		return given, fmt.Errorf("--user-data-key-file: %w", err)
	}
	if given.keys, err = imageKeys(s.imageKeys); err != nil {
		return given, err
	}
	if s.multicast != "" {
		if given.sender, err = plan.ParseSender(s.multicast, s.multicastSecret); err != nil {
			return given, fmt.Errorf("--multicast: %w", err)
		}
	}
	if given.relays, err = plan.ParseRelays(s.relays); err != nil {
		return given, fmt.Errorf("--relays: %w", err)
	}
	if s.erasureKey != "" {
		text, err := os.ReadFile(s.erasureKey)
		if err != nil {
			return given, fmt.Errorf("--erasure-key-file: %w", err)
		}
		if given.erases, err = erasure.ParsePrivate(text); err != nil {
			return given, fmt.Errorf("--erasure-key-file %s: %w", s.erasureKey, err)
		}
	}
	given.token, err = adminToken(s.adminTokenFile)
	return given, err
}

func imageKeys(file string) (imagefile.Keys, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("--image-keys: %w", err)
	}
	keys, err := imagefile.ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("--image-keys %s: %w", file, err)
	}
	return keys, nil
}

// assemble connects all of sledd with a store.
func assemble(s settings, etcd *store.Etcd, given files, log *slog.Logger) *server.Server {
	measure := metrics.New(version)
	gauge := capacity.New(etcd, log)
	measure.Size(gauge.Known)
	measured := measure.Measure(gauge.Count(etcd))
	hub := events.New(measured, log)
	measure.Watch(hub)
	casting := multicast.File(s.multicastState)
	measure.Multicast(func() (api.Multicast, error) { return casting.Read(time.Now()) })
	db := &nodetx.DB{Store: audit.Watched{Store: measured}, Kexec: measure.Kexec, Policy: s.policy(), Box: given.box}
	db.Mirror(hub)
	operators := &fleet.Fleet{DB: db, Quirks: given.quirks, ImageURLs: s.imageURLs, UploadURL: s.uploadURL,
		Multicast: given.sender != nil, Recorded: console.Directory(s.consoles).Has}
	measure.Backup(operators.NewestBackup)
	measure.Drift(operators.Drift)
	if s.certificate != "" {
		measure.Certificate(s.certificate)
	}
	rollouts := rolloutstore.New(db)
	measure.Rollouts(rollouts.List)
	erasures := erasure.New(measured, given.erases)
	nodes := intake.New(intake.Options{DB: db, Hub: hub, TokenLife: s.tokenTTL, Observe: measure, Capacity: gauge,
		ImageKeys: given.keys, Quirks: given.quirks, Watchdog: int(s.watchdog / time.Second), ImageURLs: s.imageURLs,
		UploadURL: s.uploadURL, Erasures: erasures, Sender: given.sender, Relays: given.relays,
		Consoles: console.Directory(s.consoles),
		Uploads:  &intake.Uploads{Directory: s.uploadDirectory, Quota: s.uploadQuota << 20},
		System:   boot.System{URL: s.bootURL, Flavour: s.flavour, Servers: s.nodeURLs, KernelArguments: s.kernelArguments}})
	measure.Gate(nodes.Gate)
	return &server.Server{Fleet: operators, Intake: nodes, Rollouts: rollouts, Hub: hub, Capacity: gauge,
		Backup: etcd.Backup,
		Audit:  audit.New(measured, log, db.Now), Erasures: erasures,
		Metrics: measure, Log: log, Version: version, Consoles: console.Directory(s.consoles), Links: link.Kernel{},
		Multicast: casting}
}

// run serves until the context ends, then lets requests end.
func run(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	web := server.Web(handler, log)
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	log.Info("sledd serves", "address", listener.Addr().String(), "version", version)
	notify(daemon.SdNotifyReady, log)
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	log.Info("sledd stops")
	notify(daemon.SdNotifyStopping, log)
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := web.Shutdown(limit); err != nil {
		return fmt.Errorf("stop: requests were still running after %s: %w", stopTime, err)
	}
	return nil
}

// notify tells systemd, where there is one.
func notify(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd was not notified", "state", state, "error", err)
	}
}

// onLoopback reports whether an address is one of loopback.
func onLoopback(address net.Addr) bool {
	tcp, is := address.(*net.TCPAddr)
	return is && tcp.IP.IsLoopback()
}

func logger(s settings) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", s.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options)), nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options)), nil
}

func adminToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return "", fmt.Errorf("--admin-token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if err := fleet.CheckToken(token); err != nil {
		return "", fmt.Errorf("--admin-token-file %s: %w", file, err)
	}
	return token, nil
}

// prepare writes the UUID of the fleet and operator admin (unless token is empty). If the store does not answer yet, it
// retries in the background, so that sledd serves meanwhile.
func prepare(ctx context.Context, operators *fleet.Fleet, token string, log *slog.Logger) error {
	err := prepareOnce(ctx, operators, token, log)
	var unavailable *store.UnavailableError
	if !errors.As(err, &unavailable) {
		return err
	}
	go func() {
		for err != nil && ctx.Err() == nil {
			log.Warn("the store does not answer yet, operator admin waits", "error", err)
			select {
			case <-time.After(preparePause):
			case <-ctx.Done():
			}
			err = prepareOnce(ctx, operators, token, log)
		}
	}()
	return nil
}

func prepareOnce(ctx context.Context, operators *fleet.Fleet, token string, log *slog.Logger) error {
	identity, err := operators.Identity(ctx)
	if err != nil {
		return fmt.Errorf("UUID of the fleet: %w", err)
	}
	log.Info("the store is that of a fleet", "uuid", identity)
	if token == "" {
		return nil
	}
	if err := operators.SetAdmin(ctx, token); err != nil {
		return fmt.Errorf("operator admin: %w", err)
	}
	return nil
}

func listen(ctx context.Context, s settings) (net.Listener, error) {
	var listener net.Listener
	var err error
	if path, is := socketPath(s.listen); is {
		listener, err = listenSocket(ctx, path)
	} else {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	}
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", s.listen, err)
	}
	if s.tlsCert == "" {
		return listener, nil
	}
	certificate, err := tls.LoadX509KeyPair(s.tlsCert, s.tlsKey)
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("--tls-cert %s and --tls-key %s: %w", s.tlsCert, s.tlsKey, err)
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate},
		MinVersion: tls.VersionTLS12}), nil
}

func open(ctx context.Context, s settings, log *slog.Logger) (*store.Etcd, error) {
	if len(s.etcdEndpoints) > 0 {
		return store.Dial(s.etcdEndpoints, store.TLS{CA: s.etcdCA, Cert: s.etcdCert, Key: s.etcdKey})
	}
	return store.Embed(ctx, store.Embedded{Dir: s.dataDir, Quota: int64(s.storeQuota) << 20, Waits: func() {
		log.Warn("another process has the data directory, this one waits for its end", "directory", s.dataDir)
	}})
}
