// Package redis reads rules from a Redis hash, or from a Redis key for each rule. It is for a fleet
// of servers that serve a new rule at once. Importing it registers the module
// http.shortlink.sources.redis.
package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

func init() {
	caddy.RegisterModule(new(Source))
}

// Source is a Redis hash from key to value: `HSET links docs https://example.com/docs` adds a rule,
// and all servers that read the hash `links` serve it within a second. A value is a destination,
// or an object if it begins with `{`: `{"to": "https://example.com/", "status": 301, "exact": true,
// "unlisted": true, "query": "ignore", "note": "why"}`. It can be an array of objects with times:
// `[{"to": "/fair", "until": "2027-03-01"}, {"to": "gone", "since": "2027-03-01"}]`.
//
// With `*` at the end, each rule is a Redis key: `SET links:docs https://example.com/docs` adds a
// rule to `links:*`, and all servers serve it within a tenth of a second. A change costs no more
// than its keys, however many rules there are. In a cluster the keys are on all masters.
//
// The server pushes changes: by client tracking (Redis 6 and later) or, for a hash, by keyspace
// events. These need `notify-keyspace-events` to enable all of them (`KA` is enough). If the server
// does neither for this user, the rules are polled. The server's configuration is never changed.
// All rules are compared with what serves after each loss of the connection. They are also compared
// every minute, very many less often, because nothing reports SWAPDB.
//
// A hash that is missing, empty, of another type, or has a bad value is rejected as a whole: the
// last good rules go on serving. If there are no keys, this is rejected, too. If a key has a bad
// value or another type, all changes since then are rejected. The last good rules also serve while
// the server cannot be reached; when Caddy starts, a copy in Caddy's storage stands in for it.
//
// Whoever can write to the hash or the keys can redirect. Set `allow_hosts` if these are more
// people than can change Caddy's configuration. For a hash the user needs these Redis commands,
// those on the third line for edits, and those on the last without client tracking:
//
//	HLEN HSCAN WATCH UNWATCH MULTI EXEC PING
//	CLIENT|TRACKING
//	HSET HDEL
//	SUBSCRIBE CONFIG|GET, and the channel __keyspace@<db>__:<hash>
//
// For keys it needs these, and those on the last line for edits:
//
//	SCAN MGET GET PING
//	CLIENT|TRACKING
//	SET DEL WATCH UNWATCH MULTI EXEC
//
// For both it needs SELECT if the database is another than 0, and in a cluster:
//
//	CLUSTER|SLOTS COMMAND ASKING
type Source struct {
	// The name of the hash; or what the keys begin with and `*`, for a key of Redis for each rule.
	Hash string `json:"hash"`

	// Where the server is: `redis://`, with TLS `rediss://`, or `unix://`, in full
	// `redis://user:password@host:port/db?option=value`, user and password percent-encoded, with the
	// options of https://pkg.go.dev/github.com/redis/go-redis/v9#ParseURL. An option `master_name`
	// says that the host is a Redis Sentinel, as
	// https://pkg.go.dev/github.com/redis/go-redis/v9#ParseFailoverURL has it. Here, `dial_timeout` is
	// `2s` by default. Placeholders such as `{env.REDIS_URL}` are replaced when the configuration is
	// loaded. Default: `redis://localhost:6379/0`.
	URL string `json:"url,omitempty"`

	// Set if the server is part of a Redis Cluster; more of its nodes can stand in the URL, as
	// https://pkg.go.dev/github.com/redis/go-redis/v9#ParseClusterURL has it.
	Cluster bool `json:"cluster,omitempty"`

	// A PEM file of the authorities that may have signed the server's certificate. Default: those
	// that the operating system trusts.
	TLSCA string `json:"tls_ca,omitempty"`

	// PEM files of the certificate that Caddy shows to the server, and of its private key.
	TLSCert string `json:"tls_cert,omitempty"`
	TLSKey  string `json:"tls_key,omitempty"`

	// How often the rules are read and compared if the server pushes nothing. A pause is at least
	// twice as long as the reading before it, so that very many rules are read less often. `off` for
	// never. Default: `500ms` for a hash, `10s` for keys.
	Poll string `json:"poll,omitempty"`

	// What Caddy does if it starts while the server cannot be read, and no copy of the rules is
	// stored: `refuse` to start, the default, or start `without` these rules, as for a file.
	Start string `json:"start,omitempty"`

	every   time.Duration // 0 for never
	content content
	server  server
	reach   source.Reachability
	// failed says that a reading has failed since the rules were last compared.
	failed atomic.Bool
	// answered is raised when the server has answered any request.
	answered signal
	logger   *zap.Logger
}

// defaultPoll serves a new rule within a second. Reading a key for each rule takes the server
// longer, and depends on what else is in its database.
const (
	defaultPoll     = 500 * time.Millisecond
	defaultPollKeys = 10 * time.Second
)

// CaddyModule returns the Caddy module information.
func (*Source) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.redis",
		New: func() caddy.Module { return new(Source) },
	}
}

// Provision reads the configuration. It does not connect: Read and Watch do.
func (s *Source) Provision(ctx caddy.Context) error {
	byDefault := defaultPoll
	prefix, eachRule := strings.CutSuffix(s.Hash, "*")
	switch {
	case s.Hash == "":
		return errors.New("redis: the name of the hash is missing")
	case eachRule && prefix == "":
		return errors.New("redis: * would read all keys of the database as rules: write a prefix " +
			"in front of it, such as links:*")
	case eachRule:
		s.content, byDefault = newKeys(s, prefix), defaultPollKeys
	default:
		s.content = &hash{Source: s, changed: newSignal()}
	}
	s.answered = newSignal()
	var err error
	if s.every, err = source.ParsePoll(s.Poll, byDefault); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	if s.reach.StartsWithout, err = source.ParseStart(s.Start); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	s.logger = ctx.Logger().With(zap.Stringer("source", s))
	s.server, err = s.newServer()
	s.reach.CopyKey = s.copyKey()
	return err
}

// Cleanup closes the connections.
func (s *Source) Cleanup() error {
	return s.server.close()
}

// String returns the source's name: redis and the name of the hash, or the prefix and *.
func (s *Source) String() string { return "redis " + s.Hash }

// Read passes all rules to add; see [source.Source]. It is an error if there are none. A
// [rulefile.Errors] lists all values that are none that [rulefile.ReadJSONValue] reads.
func (s *Source) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	return s.content.read(ctx, add)
}

// ByKey reports whether each rule has a Redis key; see [source.Changing].
func (s *Source) ByKey() bool {
	_, byKey := s.content.(*keys)
	return byKey
}

// ReadKeys reads the rules of some keys; see [source.Changing].
func (s *Source) ReadKeys(
	ctx context.Context, some []string, set func(resolver.Rule), remove func(key string),
) error {
	return s.content.(*keys).readKeys(ctx, some, set, remove)
}

// copyKey returns the key in Caddy's storage of the copy of rules on this server.
func (s *Source) copyKey() string {
	name := sha256.Sum256(appendText(appendText(nil, s.server.address), s.Hash))
	return "shortlink/redis/" + hex.EncodeToString(name[:16]) + ".json"
}

// Reach returns whether the server can be reached; see [source.Observed].
func (s *Source) Reach() *source.Reachability { return &s.reach }

// reached records whether the server could be read, by the error of reading it.
func (s *Source) reached(ctx context.Context, err error) {
	switch {
	case err == nil || isRejection(err):
		s.reach.Succeed()
		s.answered.raise()
	case ctx.Err() == nil:
		s.failed.Store(true)
		s.reach.Fail(err)
	}
}

// rejection is an error of what the server holds. All other errors come from reaching it.
type rejection struct{ error }

func (r rejection) Unwrap() error { return r.error }

func isRejection(err error) bool {
	_, is := errors.AsType[rejection](err)
	return is
}

// Interface guards
var (
	_ source.Source      = (*Source)(nil)
	_ source.Changing    = (*Source)(nil)
	_ source.Observed    = (*Source)(nil)
	_ caddy.Provisioner  = (*Source)(nil)
	_ caddy.CleanerUpper = (*Source)(nil)
)
