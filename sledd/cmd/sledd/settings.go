// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// The least and the largest --store-quota, in MiB. etcd recommends at most 8 GiB.
const (
	leastQuota = 32
	mostQuota  = 8192
)

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
	return nodetx.Policy{Level: level, Rules: rules, Starts: &nodetx.Starts{}}
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
