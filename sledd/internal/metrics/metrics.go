// SPDX-License-Identifier: Apache-2.0

// Package metrics serves the metrics for Prometheus.
package metrics

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/gate"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Metrics is all of it.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	calls    *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	plans    prometheus.Counter
	failed   *prometheus.CounterVec
	kexecs   *prometheus.CounterVec
}

// New makes the metrics of a version of sledd. What is counted is there from the start, as 0: an alert on an increase
// needs the value before.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sledd_http_request_seconds",
			Help: "Time to answer, by route; long polls wait by intention."}, []string{"route", "method", "code"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sledd_store_call_seconds",
			Help:    "Time of a call to the store.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 3}}, []string{"call"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sledd_store_errors_total",
			Help: "Calls to the store that failed or were not answered in time."}, []string{"call"}),
		plans: prometheus.NewCounter(prometheus.CounterOpts{Name: "sledd_plans_handed_out_total",
			Help: "Plans given to nodes."}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sledd_failed_steps_total",
			Help: "Steps that ended with an exit code other than 0."}, []string{"verb", "code"}),
		kexecs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sledd_kexecs_total",
			Help: "Starts by kexec: attempted, then confirmed or missed."}, []string{"outcome"}),
	}
	built := prometheus.NewGauge(prometheus.GaugeOpts{Name: "sledd_build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"version": version}})
	built.Set(1)
	m.registry.MustRegister(m.requests, m.calls, m.errors, m.plans, m.failed, m.kexecs, built, sources{},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.start()
	return m
}

// start makes the time series of all that can be counted.
func (m *Metrics) start() {
	for _, call := range []string{readCall, commitCall} {
		m.calls.WithLabelValues(call)
		m.errors.WithLabelValues(call)
	}
	for _, outcome := range []string{nodetx.KexecAttempted, nodetx.KexecConfirmed, nodetx.KexecMissed} {
		m.kexecs.WithLabelValues(outcome)
	}
	for _, verb := range plan.Verbs() {
		for code := api.CodeDone + 1; api.CodeName(code) != ""; code++ {
			m.failed.WithLabelValues(verb, strconv.Itoa(code))
		}
	}
}

// Watch adds what the hub knows: long polls that wait, nodes by phase, and alarms.
func (m *Metrics) Watch(hub *events.Hub) { m.registry.MustRegister(fleet{hub}) }

// Gate adds the requests of nodes that wait for a place, and those that were refused.
func (m *Metrics) Gate(g *gate.Gate) { m.registry.MustRegister(queue{g}) }

// Size adds how full the store is, as it was read last.
func (m *Metrics) Size(usage func() store.Usage) {
	for name, of := range map[string]struct {
		help  string
		value func(store.Usage) int64
	}{
		"sledd_store_bytes":        {"Size of the store's database file.", func(u store.Usage) int64 { return u.Bytes }},
		"sledd_store_in_use_bytes": {"Bytes of the file that are in use.", func(u store.Usage) int64 { return u.InUse }},
		"sledd_store_quota_bytes": {"Size at which nothing more can be written; 0: unknown.",
			func(u store.Usage) int64 { return u.Quota }},
		"sledd_store_alarms": {"Alarms: of etcd, and of its disk.",
			func(u store.Usage) int64 { return int64(len(u.Alarms)) }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: of.help},
			func() float64 { return float64(of.value(usage())) }))
	}
}

// Handler answers GET /metrics. A source that fails hides no other: what could be read is served, and
// promhttp_metric_handler_errors_total counts the failure.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError,
		Registry: m.registry})
}

// methods have their own time series. Anybody may send others, which are counted together.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodOptions}

// Request notes an answered request.
func (m *Metrics) Request(route, method string, code int, took time.Duration) {
	if !slices.Contains(methods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(code)).Observe(took.Seconds())
}

// PlanHandedOut counts a plan.
func (m *Metrics) PlanHandedOut() { m.plans.Inc() }

// StepFailed counts a failed step.
func (m *Metrics) StepFailed(verb string, code int) {
	m.failed.WithLabelValues(verb, strconv.Itoa(code)).Inc()
}

// Kexec counts a start by kexec, and later its outcome.
func (m *Metrics) Kexec(outcome string) { m.kexecs.WithLabelValues(outcome).Inc() }

var (
	phaseNodes   = prometheus.NewDesc("sledd_nodes", "Nodes that were seen, by phase.", []string{"phase"}, nil)
	overdueNodes = prometheus.NewDesc("sledd_overdue_nodes",
		"Nodes that stand still longer than their phase allows.", nil, nil)
	alarms       = prometheus.NewDesc("sledd_alarms", "Alarms that no operator has acknowledged.", []string{"kind"}, nil)
	waitingPolls = prometheus.NewDesc("sledd_waiting_polls", "Nodes that wait for a plan in a long poll.", nil, nil)
)

// fleet collects from the hub when asked.
type fleet struct{ hub *events.Hub }

// Describe implements prometheus.Collector.
func (fleet) Describe(out chan<- *prometheus.Desc) {
	out <- phaseNodes
	out <- overdueNodes
	out <- alarms
	out <- waitingPolls
}

// Collect implements prometheus.Collector.
func (f fleet) Collect(out chan<- prometheus.Metric) {
	count := f.hub.Phases()
	for _, phase := range api.Phases() {
		out <- prometheus.MustNewConstMetric(phaseNodes, prometheus.GaugeValue, float64(count[phase]), string(phase))
	}
	out <- prometheus.MustNewConstMetric(overdueNodes, prometheus.GaugeValue, float64(f.hub.Overdue(time.Now())))
	for kind, count := range f.hub.Alarms() {
		out <- prometheus.MustNewConstMetric(alarms, prometheus.GaugeValue, float64(count), kind)
	}
	out <- prometheus.MustNewConstMetric(waitingPolls, prometheus.GaugeValue, float64(f.hub.Waiting()))
}

// Calls to the store.
const (
	readCall   = "read"
	commitCall = "commit"
)

// Measured is a store whose calls are measured.
type Measured struct {
	store.Store
	metrics *Metrics
}

// Measure wraps a store.
func (m *Metrics) Measure(s store.Store) Measured { return Measured{s, m} }

// Read implements store.Store.
func (s Measured) Read(ctx context.Context, queries ...store.Query) (store.Snapshot, error) {
	begin := time.Now()
	snapshot, err := s.Store.Read(ctx, queries...)
	s.metrics.call(readCall, begin, err)
	return snapshot, err
}

// Commit implements store.Store.
func (s Measured) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	begin := time.Now()
	revision, err := s.Store.Commit(ctx, t)
	s.metrics.call(commitCall, begin, err)
	return revision, err
}

func (m *Metrics) call(name string, begin time.Time, err error) {
	m.calls.WithLabelValues(name).Observe(time.Since(begin).Seconds())
	var unavailable *store.UnavailableError
	if errors.As(err, &unavailable) {
		m.errors.WithLabelValues(name).Inc()
	}
}
