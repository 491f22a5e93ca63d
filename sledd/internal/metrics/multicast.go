// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sled-fleet/sled/sledd/api"
)

var (
	ofImage     = []string{"image", "interface"}
	castSession = prometheus.NewDesc("sledd_multicast_sessions", "Images that are multicast, or were within 60 s.",
		nil, nil)
	castClients = prometheus.NewDesc("sledd_multicast_receivers", "Nodes that requested within 3 s.", ofImage, nil)
	castRate    = prometheus.NewDesc("sledd_multicast_rate_bps", "Rate of an image, in bits per second.", ofImage, nil)
	castBytes   = prometheus.NewDesc("sledd_multicast_bytes_total", "Bytes sent, new ones and repairs.",
		append([]string{"kind"}, ofImage...), nil)
	castCopies = prometheus.NewDesc("sledd_multicast_copies", "What was sent, in copies of the image.", ofImage, nil)
	castNeeds  = prometheus.NewDesc("sledd_multicast_requests_total", "Requests of nodes.", ofImage, nil)
	castRefuse = prometheus.NewDesc("sledd_multicast_refused_total", "Requests that were dropped, by reason.",
		[]string{"why"}, nil)
)

// Multicast adds what the sender of images tells.
func (m *Metrics) Multicast(read func() (api.Multicast, error)) {
	m.registry.MustRegister(multicast(read))
}

// multicast collects from the sender when asked. Counters start again with it.
type multicast func() (api.Multicast, error)

// Describe implements prometheus.Collector.
func (multicast) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{castSession, castClients, castRate, castBytes, castCopies,
		castNeeds, castRefuse} {
		out <- one
	}
}

// Collect implements prometheus.Collector.
func (read multicast) Collect(out chan<- prometheus.Metric) {
	add := func(what *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(what, kind, value, labels...)
	}
	told, err := read()
	out <- up("multicast", err)
	if err != nil {
		return
	}
	add(castSession, prometheus.GaugeValue, float64(len(told.Sessions)))
	for why, count := range told.Refused {
		add(castRefuse, prometheus.CounterValue, float64(count), why)
	}
	for _, s := range told.Sessions {
		image, from := s.Image.String(), s.Interface.String()
		add(castClients, prometheus.GaugeValue, float64(s.Receivers), image, from)
		add(castRate, prometheus.GaugeValue, float64(s.Rate)*1000, image, from)
		add(castBytes, prometheus.CounterValue, float64(s.Bytes-s.Repairs), "new", image, from)
		add(castBytes, prometheus.CounterValue, float64(s.Repairs), "repair", image, from)
		add(castCopies, prometheus.GaugeValue, s.Copies, image, from)
		add(castNeeds, prometheus.CounterValue, float64(s.Requests), image, from)
	}
}
