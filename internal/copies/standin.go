package copies

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// KeyOf returns the storage key of a source's copy, or "" if it has none.
func KeyOf(from source.Source) string {
	if reach := source.ReachOf(from); reach != nil {
		return reach.CopyKey
	}
	return ""
}

// StandIns returns sources in which stored copies replace those that cannot be read.
func StandIns(ctx caddy.Context, sources []source.Source) (with []source.Source, found bool) {
	with = slices.Clone(sources)
	for i, from := range sources {
		key, outage := KeyOf(from), source.OutageOf(from)
		if key != "" && outage != nil && ctx.Storage().Exists(ctx, key) {
			with[i], found = standIn{from, ctx, key, outage}, true
		}
	}
	return with, found
}

// standIn is the stored copy of a source.
type standIn struct {
	source.Source
	ctx    caddy.Context
	key    string
	outage *source.Outage
}

// Read passes the rules of the copy.
func (s standIn) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	rules := 0
	b, err := s.ctx.Storage().Load(ctx, s.key)
	if err == nil {
		err = rulefile.ReadJSON(bytes.NewReader(b), s.String(), func(rule resolver.Rule) {
			rules++
			rule.Position = resolver.Position{Source: s.String()}
			add(rule)
		})
	}
	if err != nil {
		return "", fmt.Errorf("%w; nor can its stored copy: %w", s.outage.Err, err)
	}
	stored := storedAt(ctx, s.ctx.Storage(), s.key)
	s.ctx.Logger().Warn("a source cannot be read; serving the stored copy of its rules",
		zap.Stringer("source", s), zap.Error(s.outage.Err), zap.Int("rules", rules),
		zap.Time("stored", stored))
	source.ReachOf(s.Source).UseCopy(s.outage.Err, stored)
	return Version, nil
}
