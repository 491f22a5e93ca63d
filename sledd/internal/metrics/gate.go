// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sled-fleet/sled/sledd/internal/gate"
)

var (
	waitingRequests = prometheus.NewDesc("sledd_gate_waiting", "Requests of nodes that wait for a place, by class.",
		[]string{"class"}, nil)
	refusedRequests = prometheus.NewDesc("sledd_gate_refused_total",
		"Requests of nodes that were refused because too many waited, by class.", []string{"class"}, nil)
)

// queue collects from the gate when asked.
type queue struct{ gate *gate.Gate }

// Describe implements prometheus.Collector.
func (queue) Describe(out chan<- *prometheus.Desc) {
	out <- waitingRequests
	out <- refusedRequests
}

// Collect implements prometheus.Collector.
func (q queue) Collect(out chan<- prometheus.Metric) {
	q.gate.Each(func(class string, waiting, refused int) {
		out <- prometheus.MustNewConstMetric(waitingRequests, prometheus.GaugeValue, float64(waiting), class)
		out <- prometheus.MustNewConstMetric(refusedRequests, prometheus.CounterValue, float64(refused), class)
	})
}
