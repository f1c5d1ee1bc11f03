package metrics

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// The metrics. Handlers of one name share theirs.
var (
	requestsTotal = prometheus.NewDesc("caddy_shortlink_requests_total",
		"Requests that shortlink handlers have seen, by outcome: redirect, pass, gone or "+
			"error.",
		[]string{"name", "outcome"}, nil)
	rulesNow = prometheus.NewDesc("caddy_shortlink_rules",
		"Rules that serve.", []string{"name"}, nil)
	brokenNow = prometheus.NewDesc("caddy_shortlink_broken_rules",
		"Rules that serve and are answered with an error: loops and too many redirects.",
		[]string{"name"}, nil)
	rulesetInfo = prometheus.NewDesc("caddy_shortlink_ruleset_info",
		"The digest of the rules that serve, which is equal on all servers that serve the same.",
		[]string{"name", "digest"}, nil)
	reloadsTotal = prometheus.NewDesc("caddy_shortlink_reloads_total",
		"Loads of rules from a source, by result: loaded or rejected.",
		[]string{"name", "source", "result"}, nil)
	lastSuccess = prometheus.NewDesc("caddy_shortlink_last_reload_success_timestamp_seconds",
		"When rules from a source were last loaded, in seconds since 1970.", []string{"name", "source"},
		nil)
	sourceUp = prometheus.NewDesc("caddy_shortlink_source_up",
		"Whether a source can be read: 1, or 0 while the last good rules stand in.",
		[]string{"name", "source"}, nil)
)

// Handler is what a handler that runs tells.
type Handler struct {
	Totals        *Totals
	Sources       []source.Source
	Digest        string
	Rules, Broken int // how many serve, and how many of these are answered with an error
}

// Collector collects the metrics of all handlers that run, which it returns. It has no state, so
// that each configuration's registry can have one.
type Collector func() []Handler

// Register registers the metrics with those of Caddy's configuration.
func (c Collector) Register(ctx caddy.Context) error {
	err := ctx.GetMetricsRegistry().Register(c)
	if _, is := errors.AsType[prometheus.AlreadyRegisteredError](err); is {
		return nil // by another handler
	}
	return err
}

// Describe sends the descriptions of all metrics.
func (Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		requestsTotal, rulesNow, brokenNow, rulesetInfo, reloadsTotal, lastSuccess, sourceUp,
	} {
		descs <- desc
	}
}

// Collect sends the current values.
func (c Collector) Collect(metrics chan<- prometheus.Metric) {
	rules, broken := map[string]int{}, map[string]int{}
	digests := map[[2]string]bool{}
	byName := map[string]*Totals{}
	sources := map[string][]string{}
	up := map[[2]string]float64{} // by name and source
	for _, h := range c() {
		name := h.Totals.Name
		rules[name] += h.Rules
		broken[name] += h.Broken
		digests[[2]string{name, h.Digest}] = true
		byName[name] = h.Totals
		for _, from := range h.Sources {
			sources[name] = append(sources[name], label(from))
			if reach := source.ReachOf(from); reach != nil {
				noteUp(up, [2]string{name, label(from)}, reach.Outage() == nil)
			}
		}
	}
	gauge := func(of *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
	}
	for name, n := range rules {
		gauge(rulesNow, float64(n), name)
		gauge(brokenNow, float64(broken[name]), name)
	}
	for labels := range digests {
		gauge(rulesetInfo, 1, labels[:]...)
	}
	for labels, value := range up {
		gauge(sourceUp, value, labels[:]...)
	}
	for name, t := range byName {
		t.collect(sources[name], metrics)
	}
}

// noteUp records whether a source can be read: 1 if all sources with its labels can.
func noteUp(up map[[2]string]float64, labels [2]string, readable bool) {
	if _, known := up[labels]; !known {
		up[labels] = 1
	}
	if !readable {
		up[labels] = 0
	}
}

// label returns the label of a source. A path need not be valid UTF-8, but a label has to be.
func label(from source.Source) string { return strings.ToValidUTF8(from.String(), "\uFFFD") }

// collect sends the values of the handlers of one name, which have these sources.
func (t *Totals) collect(sources []string, metrics chan<- prometheus.Metric) {
	for outcome := range t.outcomes {
		n := float64(t.outcomes[outcome].Load())
		metrics <- prometheus.MustNewConstMetric(requestsTotal, prometheus.CounterValue, n, t.Name,
			resolver.Outcome(outcome).String())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for labels, n := range t.reloads {
		if slices.Contains(sources, labels.source) {
			metrics <- prometheus.MustNewConstMetric(reloadsTotal, prometheus.CounterValue, float64(n),
				t.Name, labels.source, labels.result)
		}
	}
	for from, at := range t.succeeded {
		if slices.Contains(sources, from) && !at.IsZero() {
			metrics <- prometheus.MustNewConstMetric(lastSuccess, prometheus.GaugeValue,
				float64(at.UnixMilli())/1000, t.Name, from)
		}
	}
}

// Interface guard
var _ prometheus.Collector = Collector(nil)
