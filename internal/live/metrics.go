package live

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// The metrics. Handlers of one name share theirs. No label holds what a client sent.
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

// collector collects the metrics of all handlers that run. It has no state, so that each
// configuration's registry can have one.
type collector struct{}

// registerMetrics registers the metrics with those of Caddy's configuration.
func registerMetrics(ctx caddy.Context) error {
	err := ctx.GetMetricsRegistry().Register(collector{})
	if _, is := errors.AsType[prometheus.AlreadyRegisteredError](err); is {
		return nil // by another handler
	}
	return err
}

// Describe sends the descriptions of all metrics.
func (collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		requestsTotal, rulesNow, brokenNow, rulesetInfo, reloadsTotal, lastSuccess, sourceUp,
	} {
		descs <- desc
	}
}

// Collect sends the current values.
func (collector) Collect(metrics chan<- prometheus.Metric) {
	rules, broken := map[string]int{}, map[string]int{}
	digests := map[[2]string]bool{}
	byName := map[string]*totals{}
	sources := map[string][]string{}
	up := map[[2]string]float64{} // by name and source
	for _, rs := range AllRunning() {
		serving := rs.Serving()
		name := rs.PublicName()
		rules[name] += serving.Ruleset.Len()
		broken[name] += serving.broken.count
		digests[[2]string{name, serving.Digest}] = true
		byName[name] = rs.shared.totals
		for _, from := range rs.Sources {
			sources[name] = append(sources[name], sourceLabel(from))
			if reach := source.ReachOf(from); reach != nil {
				noteUp(up, [2]string{name, sourceLabel(from)}, reach.Outage() == nil)
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

// sourceLabel returns the label of a source. A path need not be valid UTF-8, but a label has to be.
func sourceLabel(from source.Source) string { return strings.ToValidUTF8(from.String(), "\uFFFD") }

// collect sends the values of the handlers of one name, which have these sources.
func (t *totals) collect(sources []string, metrics chan<- prometheus.Metric) {
	for outcome := range t.outcomes {
		n := float64(t.outcomes[outcome].Load())
		metrics <- prometheus.MustNewConstMetric(requestsTotal, prometheus.CounterValue, n, t.name,
			resolver.Outcome(outcome).String())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for labels, n := range t.reloads {
		if slices.Contains(sources, labels.source) {
			metrics <- prometheus.MustNewConstMetric(reloadsTotal, prometheus.CounterValue, float64(n),
				t.name, labels.source, labels.result)
		}
	}
	for from, at := range t.succeeded {
		if slices.Contains(sources, from) && !at.IsZero() {
			metrics <- prometheus.MustNewConstMetric(lastSuccess, prometheus.GaugeValue,
				float64(at.UnixMilli())/1000, t.name, from)
		}
	}
}

// Interface guard
var _ prometheus.Collector = collector{}
