// Package metrics counts what handlers do, and tells it as metrics.
//
// [Totals] are the counts of all handlers of one name. A [Collector] collects them, and what each
// [Handler] serves, for Prometheus. No label holds what a client sent. internal/live counts and
// registers; the package imports resolver and source.
package metrics
