// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// The least and the largest --store-quota, in MiB. etcd recommends at most 8 GiB.
const (
	leastQuota = 32
	mostQuota  = 8192
)

// settings is the command line.
type settings struct {
	listen          string
	dataDir         string
	storeQuota      int
	etcdEndpoints   []string
	etcdCA          string
	etcdCert        string
	etcdKey         string
	bootURL         string
	nodeURLs        []string
	imageURLs       []string
	uploadURL       string
	uploadDirectory string
	uploadQuota     int64
	imageKeys       string
	multicast       string
	multicastSecret string
	relays          []string
	flavour         string
	kernelArguments string
	quirks          string
	watchdog        time.Duration
	adminTokenFile  string
	userDataKeys    string
	erasureKey      string
	consoles        string
	multicastState  string
	tokenTTL        time.Duration
	admission       string
	rivalTime       time.Duration
	tlsCert         string
	tlsKey          string
	logFormat       string
	logLevel        string
}

func (s *settings) flags(f *pflag.FlagSet) {
	f.StringVar(&s.listen, "listen", "127.0.0.1:9470",
		"address and port to serve on, or unix:/PATH for a web server in front, which names the clients")
	f.StringVar(&s.dataDir, "data-dir", "/var/lib/sled", "directory of the embedded etcd")
	f.IntVar(&s.storeQuota, "store-quota", store.DefaultQuota>>20,
		"size in MiB at which the embedded etcd refuses writes; machines that are not declared may use half of it")
	f.StringSliceVar(&s.etcdEndpoints, "etcd-endpoints", nil,
		"URLs of an external etcd cluster, instead of the embedded one")
	f.StringVar(&s.etcdCA, "etcd-ca", "", "PEM file of the CA of the external etcd")
	f.StringVar(&s.etcdCert, "etcd-cert", "", "PEM file of the client certificate for the external etcd")
	f.StringVar(&s.etcdKey, "etcd-key", "", "PEM file of the key of that certificate")
	f.StringVar(&s.bootURL, "boot-url", "", "base URL where nodes fetch kernel and initrd, http://ADDRESS (required)")
	f.StringSliceVar(&s.nodeURLs, "node-urls", nil,
		"base URLs of sledd for nodes, https://ADDRESS; default: those in the site's initrd")
	f.StringSliceVar(&s.imageURLs, "image-urls", nil,
		"base URLs where nodes fetch images, http://ADDRESS/images; needed to capture disks")
	f.StringVar(&s.uploadURL, "upload-url", "",
		"base URL where nodes put captured disks, https://ADDRESS/upload; needed to capture disks")
	f.StringVar(&s.uploadDirectory, "upload-directory", "",
		"directory where the web server in front stores captured disks; sledd reads how much is in it")
	f.Int64Var(&s.uploadQuota, "upload-quota", 0,
		"size in MiB of all captured disks, above which no other is taken; 0: 90% of the filesystem in use")
	f.StringVar(&s.imageKeys, "image-keys", "",
		"PEM file of the public keys that images are signed with; only such a signature publishes a captured disk")
	s.multicastFlags(f)
	f.StringVar(&s.flavour, "flavour", "generic", "Sled system of nodes without a flavour: generic or cloud")
	f.StringVar(&s.kernelArguments, "kernel-arguments", "console=tty0 console=ttyS0,115200n8",
		"kernel arguments of the Sled system at this site")
	f.StringVar(&s.quirks, "quirks", "",
		"YAML file of machines that are not started by kexec, in addition to the list of sledd")
	f.DurationVar(&s.watchdog, "watchdog", 300*time.Second,
		"timeout of the hardware watchdog that is armed before a kexec; 0: no watchdog")
	f.StringVar(&s.adminTokenFile, "admin-token-file", "",
		"file with the token of operator admin, which is created or updated at start")
	f.StringVar(&s.userDataKeys, "user-data-key-file", "",
		"file of keys that seal user data in the store, 64 hexadecimal digits in a line; the first seals, all open")
	f.StringVar(&s.erasureKey, "erasure-key-file", "",
		"PEM file of the Ed25519 private key that signs the records of erased disks; without it they are not signed")
	f.StringVar(&s.consoles, "console-directory", "",
		"directory of recorded consoles, MAC.log (MAC with hyphens); sledd reads it, also for claim codes")
	f.StringVar(&s.multicastState, "multicast-state", "",
		"file in which sledc send tells what it sends (its operand state), for sledctl multicast and the metrics")
	f.DurationVar(&s.tokenTTL, "token-ttl", time.Hour, "lifetime of a boot token; renewed while the node polls")
	f.StringVar(&s.admission, "admission", admission.Expected.String(),
		"level at which machines are admitted as nodes: open, expected, proven or attested")
	f.DurationVar(&s.rivalTime, "rival-time", admission.DefaultRules().Hold,
		"at level expected, time without another claim to be the node before it gets secrets")
	f.StringVar(&s.tlsCert, "tls-cert", "", "PEM file of a certificate, to serve TLS without nginx")
	f.StringVar(&s.tlsKey, "tls-key", "", "PEM file of the key of that certificate")
	f.StringVar(&s.logFormat, "log-format", "text", "json or text")
	f.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
}

func (s *settings) multicastFlags(f *pflag.FlagSet) {
	f.StringVar(&s.multicast, "multicast", "",
		"ADDRESS:PORT at which sledc send sends the images to many nodes at once; IPv4")
	f.StringVar(&s.multicastSecret, "multicast-secret-file", "",
		"file with the secret that sledc send has too; without it packets have no key")
	f.StringSliceVar(&s.relays, "relays", nil,
		"ADDRESS:LABEL=VALUE: nodes with that label fetch images of --image-urls from that address first, by multicast too")
}

// check refuses what cannot work, with the name of the flag, its value and what would be right.
func (s *settings) check() error {
	if err := s.checkListen(); err != nil {
		return err
	}
	if err := checkBase("--boot-url", s.bootURL, "http", "https"); err != nil {
		return err
	}
	if err := s.checkCapture(); err != nil {
		return err
	}
	for _, one := range s.nodeURLs {
		if err := checkBase("--node-urls", one, "https", "http"); err != nil {
			return err
		}
	}
	for _, one := range s.etcdEndpoints {
		if err := checkEtcd(one); err != nil {
			return err
		}
	}
	if s.dataDir == "" && len(s.etcdEndpoints) == 0 {
		return fmt.Errorf("--data-dir is empty and there are no --etcd-endpoints: one of the two must say " +
			"where state is kept")
	}
	if s.storeQuota < leastQuota || s.storeQuota > mostQuota {
		return fmt.Errorf("--store-quota %d: want %d to %d MiB", s.storeQuota, leastQuota, mostQuota)
	}
	if (s.etcdCert == "") != (s.etcdKey == "") {
		return fmt.Errorf("--etcd-cert %q and --etcd-key %q: set both or none", s.etcdCert, s.etcdKey)
	}
	if (s.tlsCert == "") != (s.tlsKey == "") {
		return fmt.Errorf("--tls-cert %q and --tls-key %q: set both or none", s.tlsCert, s.tlsKey)
	}
	if s.multicastSecret != "" && s.multicast == "" {
		return fmt.Errorf("--multicast-secret-file %q: --multicast is missing", s.multicastSecret)
	}
	return s.checkWords()
}

func (s *settings) checkListen() error {
	path, socket := socketPath(s.listen)
	if socket && s.tlsCert != "" {
		return fmt.Errorf("--listen %q with --tls-cert: the web server in front ends TLS, omit one of the two", s.listen)
	}
	if socket {
		return checkSocket(path)
	}
	if _, port, err := net.SplitHostPort(s.listen); err != nil || port == "" {
		return fmt.Errorf("--listen %q: want ADDRESS:PORT as in 127.0.0.1:9470, or unix:/PATH", s.listen)
	}
	return nil
}

func (s *settings) checkCapture() error {
	if s.uploadQuota < 0 || s.uploadQuota > 0 && s.uploadDirectory == "" {
		return fmt.Errorf("--upload-quota %d: want 0 or more MiB, and the directory in --upload-directory", s.uploadQuota)
	}
	for _, one := range s.imageURLs {
		if err := checkFolder("--image-urls", one, "http", "https"); err != nil {
			return err
		}
	}
	if s.uploadURL == "" {
		return nil
	}
	return checkFolder("--upload-url", s.uploadURL, "https", "http")
}

// policy is how claims are admitted.
func (s *settings) policy() nodetx.Policy {
	rules := admission.DefaultRules()
	rules.Hold = s.rivalTime
	level, _ := admission.ParseLevel(s.admission) // checked
	return nodetx.Policy{Level: level, Rules: rules}
}

func (s *settings) checkWords() error {
	if _, err := admission.ParseLevel(s.admission); err != nil {
		return fmt.Errorf("--admission: %w", err)
	}
	if s.rivalTime < 45*time.Second || s.rivalTime > time.Hour {
		return fmt.Errorf("--rival-time %s: want 45s to 1h", s.rivalTime)
	}
	if s.flavour != "generic" && s.flavour != "cloud" {
		return fmt.Errorf("--flavour %q: want generic or cloud", s.flavour)
	}
	if s.logFormat != "json" && s.logFormat != "text" {
		return fmt.Errorf("--log-format %q: want json or text", s.logFormat)
	}
	if s.tokenTTL < time.Minute || s.tokenTTL > 30*24*time.Hour {
		return fmt.Errorf("--token-ttl %s: want 1m to 720h", s.tokenTTL)
	}
	if s.watchdog != 0 && (s.watchdog < plan.LeastWatchdog*time.Second || s.watchdog > plan.MostWatchdog*time.Second ||
		s.watchdog%time.Second != 0) {
		return fmt.Errorf("--watchdog %s: want whole seconds from %ds to %ds, or 0 for none", s.watchdog, plan.LeastWatchdog,
			plan.MostWatchdog)
	}
	for _, c := range s.kernelArguments {
		if c < ' ' || c > '~' || strings.ContainsRune("${}|&#\\", c) {
			return fmt.Errorf("--kernel-arguments: %q cannot stand in an iPXE script", c)
		}
	}
	return nil
}

// checkBase refuses what is not the base of URLs.
func checkBase(flag, text string, schemes ...string) error {
	if path, fine := path(text, schemes); fine && strings.Trim(path, "/") == "" {
		return nil
	}
	return fmt.Errorf("%s %q: want a URL of scheme and address only, as in %s://10.77.0.1", flag, text, schemes[0])
}

// checkEtcd refuses an endpoint that sends user data in clear text over a network.
func checkEtcd(endpoint string) error {
	if err := checkBase("--etcd-endpoints", endpoint, "https", "http"); err != nil {
		return err
	}
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Scheme == "https" || parsed.Hostname() == "localhost" ||
		net.ParseIP(parsed.Hostname()).IsLoopback() {
		return nil //nolint:nilerr // checkBase has parsed it
	}
	return fmt.Errorf("--etcd-endpoints %q: plain HTTP sends user data in clear text, so it is accepted only on "+
		"loopback: use https://%s, with --etcd-ca", endpoint, parsed.Host)
}

// checkFolder refuses what is not a URL that names of files can follow.
func checkFolder(flag, text string, schemes ...string) error {
	if path, fine := path(text, schemes); fine && !strings.HasSuffix(path, "/") {
		return nil
	}
	return fmt.Errorf("%s %q: want a URL without a slash at its end, as in %s://10.77.0.1/folder", flag, text, schemes[0])
}

// path returns the path of a URL, and whether the rest is only scheme and address.
func path(text string, schemes []string) (string, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.RawQuery != "" || strings.ContainsAny(text, " ,|&$#\\") {
		return "", false
	}
	return parsed.Path, slices.Contains(schemes, parsed.Scheme)
}
