// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sled-fleet/sled/sledd/api"
)

// sourceTime bounds the reading of one source.
const sourceTime = 2 * time.Second

// sourceUp names the sources that are read when /metrics is: one that fails is 0, and its own metrics are missing.
var sourceUp = prometheus.NewDesc("sledd_metrics_source_up", "1 if this source of metrics could be read, else 0.",
	[]string{"source"}, nil)

// sources describes sourceUp for all sources.
type sources struct{}

// Describe implements prometheus.Collector.
func (sources) Describe(out chan<- *prometheus.Desc) { out <- sourceUp }

// Collect implements prometheus.Collector: each source tells itself whether it could be read.
func (sources) Collect(chan<- prometheus.Metric) {}

func up(source string, err error) prometheus.Metric {
	value := 1.0
	if err != nil {
		value = 0
	}
	return prometheus.MustNewConstMetric(sourceUp, prometheus.GaugeValue, value, source)
}

// source is read from the store or from a file when asked: another sledd, or another program, may have written it.
type source struct {
	name  string
	descs []*prometheus.Desc
	read  func(ctx context.Context) ([]prometheus.Metric, error)
}

// Describe implements prometheus.Collector.
func (s source) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range s.descs {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (s source) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), sourceTime)
	defer cancel()
	found, err := s.read(ctx)
	out <- up(s.name, err)
	if err != nil {
		return
	}
	for _, metric := range found {
		out <- metric
	}
}

func gauge(what *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(what, prometheus.GaugeValue, value, labels...)
}

// seconds since 1970; 0: never.
func seconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

var newestBackup = prometheus.NewDesc("sledd_backup_timestamp_seconds",
	"When the newest complete backup was read, in seconds since 1970; 0: never.", nil, nil)

// Backup adds when the newest backup was read.
func (m *Metrics) Backup(newest func(context.Context) (time.Time, error)) {
	m.registry.MustRegister(source{"backup", []*prometheus.Desc{newestBackup},
		func(ctx context.Context) ([]prometheus.Metric, error) {
			at, err := newest(ctx)
			return []prometheus.Metric{gauge(newestBackup, seconds(at))}, err
		}})
}

var driftNodes = prometheus.NewDesc("sledd_drift_nodes", "Nodes that do not have what their binding requests.",
	nil, nil)

// Drift adds how many nodes lack what is requested.
func (m *Metrics) Drift(count func(context.Context) (int, error)) {
	m.registry.MustRegister(source{"nodes", []*prometheus.Desc{driftNodes},
		func(ctx context.Context) ([]prometheus.Metric, error) {
			nodes, err := count(ctx)
			return []prometheus.Metric{gauge(driftNodes, float64(nodes))}, err
		}})
}

var (
	rolloutStates  = prometheus.NewDesc("sledd_rollouts", "Rollouts, by state.", []string{"state"}, nil)
	rolloutSilence = prometheus.NewDesc("sledd_rollout_silence_seconds",
		"Time without a request of its runner, of the running rollout that is silent for longest; 0: each is followed.",
		nil, nil)
)

var states = []api.RolloutState{api.RolloutRunning, api.RolloutStopped, api.RolloutDone, api.RolloutAborted}

// Rollouts adds their states, and whether somebody follows those that run.
func (m *Metrics) Rollouts(list func(context.Context) (api.RolloutList, error)) {
	m.registry.MustRegister(source{"rollouts", []*prometheus.Desc{rolloutStates, rolloutSilence},
		func(ctx context.Context) ([]prometheus.Metric, error) {
			all, err := list(ctx)
			count, silence := map[api.RolloutState]int{}, 0
			for _, one := range all.Items {
				count[one.State]++
				silence = max(silence, one.Silent)
			}
			found := []prometheus.Metric{gauge(rolloutSilence, float64(silence))}
			for _, state := range states {
				found = append(found, gauge(rolloutStates, float64(count[state]), string(state)))
			}
			return found, err
		}})
}

var certificateEnd = prometheus.NewDesc("sledd_certificate_expiry_timestamp_seconds",
	"When the certificate of the boot server expires, in seconds since 1970.", nil, nil)

// Certificate adds when the one in a file expires, which the web server in front shows.
func (m *Metrics) Certificate(file string) {
	m.registry.MustRegister(source{"certificate", []*prometheus.Desc{certificateEnd},
		func(context.Context) ([]prometheus.Metric, error) {
			end, err := expiry(file)
			return []prometheus.Metric{gauge(certificateEnd, seconds(end))}, err
		}})
}

func expiry(file string) (time.Time, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return time.Time{}, fmt.Errorf("certificate: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}, fmt.Errorf("certificate %s: no PEM", file)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("certificate %s: %w", file, err)
	}
	return certificate.NotAfter, nil
}
