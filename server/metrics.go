package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the Prometheus metrics of the server. Only names of served models become labels, never other
// text from clients.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // labels: model, version, protocol, code
	queued   *prometheus.HistogramVec // labels: model, version
	computed *prometheus.HistogramVec // labels: model, version
	encoded  *prometheus.HistogramVec // labels: model, version
	batches  *prometheus.HistogramVec // labels: model, version
	refused  prometheus.Counter
	lost     prometheus.Counter

	activities activities
}

// newMetrics returns metrics of s, all zero.
func newMetrics(s *Server) *metrics {
	version := []string{"model", "version"}
	seconds := prometheus.ExponentialBuckets(50e-6, 2, 18) // to 6.6 s
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		o := prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
		return prometheus.NewHistogramVec(o, version)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bnctl_requests_total",
			Help: "Requests, by the version that answered; none where no version did."},
			append(version, "protocol", "code")),
		queued:   histogram("bnctl_queue_seconds", "How long requests waited for their first batch.", seconds),
		computed: histogram("bnctl_device_seconds", "How long the batches of a request were computed.", seconds),
		encoded:  histogram("bnctl_encode_seconds", "How long answers were written.", seconds),
		batches:  histogram("bnctl_batch_rows", "Rows of batches.", prometheus.ExponentialBuckets(1, 2, 11)),
		refused:  counter("bnctl_updates_refused_total", "Files of models that could not be served."),
		lost:     counter("bnctl_devices_lost_total", "Devices that were lost."),
	}
	m.registry.MustRegister(m.requests, m.queued, m.computed, m.encoded, m.batches, m.refused, m.lost,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bnctl_inflight_bytes",
			Help: "Bytes of requests under way, unpacked, and of their answers."},
			func() float64 { return float64(s.budget.requestBytes()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bnctl_connection_bytes",
			Help: "Bytes of open connections, without requests."},
			func() float64 { return float64(s.budget.used.Load() - s.budget.requestBytes()) }),
		queueCollector{s})
	if s.o.Security.Certificate != "" {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bnctl_certificate_end_seconds",
			Help: "Until when the server's certificate is valid, in seconds since 1970."},
			func() float64 { return float64(s.certificateExpiry().Unix()) }))
	}
	return m
}

// queueCollector is a metric: the number of rows that wait in the queue of each version.
type queueCollector struct{ s *Server }

var waitingRows = prometheus.NewDesc("bnctl_queue_rows", "Rows that wait.", []string{"model", "version"}, nil)

// Describe implements prometheus.Collector.
func (w queueCollector) Describe(ch chan<- *prometheus.Desc) { ch <- waitingRows }

// Collect implements prometheus.Collector.
func (w queueCollector) Collect(ch chan<- prometheus.Metric) {
	for _, m := range w.s.allVersions() {
		ch <- prometheus.MustNewConstMetric(waitingRows, prometheus.GaugeValue, float64(m.queue.Waiting()), m.name,
			m.label())
	}
}

// handler serves the metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// count counts a finished request.
func (m *metrics) count(r *record, protocol, code string) {
	m.requests.WithLabelValues(r.model, r.version, protocol, code).Inc()
	if model, version := r.answering(); model != "" {
		m.activities.get(model, version).count(time.Now(), r, r.rows == 0)
	}
	if r.rows == 0 {
		return
	}
	for h, took := range map[*prometheus.HistogramVec]time.Duration{m.queued: r.queued, m.computed: r.computed,
		m.encoded: r.encoded} {
		h.WithLabelValues(r.model, r.version).Observe(took.Seconds())
	}
}

// countBatch counts a computed batch. waiting is the number of rows that wait when it is done.
func (m *metrics) countBatch(name string, version, rows, waiting int) {
	m.activities.get(name, strconv.Itoa(version)).batch(time.Now(), waiting)
	m.batches.WithLabelValues(name, strconv.Itoa(version)).Observe(float64(rows))
}

// forget removes the metrics of a version that is no longer served, so that many
// short-lived versions do not accumulate.
func (m *metrics) forget(name, version string) {
	m.activities.forget(name, version)
	labels := prometheus.Labels{"model": name, "version": version}
	m.requests.DeletePartialMatch(labels)
	for _, h := range []*prometheus.HistogramVec{m.queued, m.computed, m.encoded, m.batches} {
		h.DeletePartialMatch(labels)
	}
}
