package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func init() {
	caddy.RegisterModule(new(Storage))
}

// Storage reads rules from an entry of Caddy's storage, and again when the entry changes. A whole
// fleet may share it. If the entry is missing or has invalid rules, the old rules go on serving.
type Storage struct {
	// The entry's key, such as `shortlink/links.json`.
	Key string `json:"key,omitempty"`

	// The storage, if it is not Caddy's own.
	StorageRaw json.RawMessage `json:"storage,omitempty" caddy:"namespace=caddy.storage inline_key=module"`

	// How the rules are written: `json`, `csv` or `redirects`. Default: by the key (`*.json`, `*.csv`,
	// `*.tsv`, `_redirects`), else `json`.
	Format string `json:"format,omitempty"`

	// How often the entry is looked at, as a duration; `off` for never. Default: `5s`.
	Poll string `json:"poll,omitempty"`

	// The key of an entry of expectations: a JSON object from request path to destination, `pass`,
	// `gone` or `error`. Rules that do not meet them never serve. Default: none.
	Expect string `json:"expect,omitempty"`

	// A public key of minisign. The entry serves only with a signature by this key, in an entry of the
	// same key with `.minisig` appended. Default: no signature is needed.
	Minisign string `json:"minisign,omitempty"`

	// Whether the entry may come to have no rules. One that had rules, and has none any more, is
	// refused otherwise, as that is hardly ever meant. Default: it may not.
	AllowEmpty bool `json:"allow_empty,omitempty"`

	// What Caddy does if it starts while the entry cannot be read, and no copy of the rules is
	// stored: `refuse` to start, or start `without` these rules. Then the other rules serve, and until
	// the first reading a 404 of the next handler is a 503. Default: `refuse`.
	Start string `json:"start,omitempty"`

	RedirectsOptions

	content  content
	storage  certmagic.Storage
	every    time.Duration
	expected PlacedExpectations
	calls    *boundedCalls
}

// CaddyModule returns the module's ID and constructor.
func (*Storage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.storage",
		New: func() caddy.Module { return new(Storage) },
	}
}

// Provision finds the storage and checks the options. The error lists all that is wrong with them.
func (s *Storage) Provision(ctx caddy.Context) error {
	var inKey, inStorage, inFormat, inReading, inPoll, inPublicKey error
	if s.Key == "" {
		inKey = errors.New("the key of the entry is missing; write from storage <key>")
	}
	s.storage, inStorage = s.findStorage(ctx)
	s.content.format, inFormat = formatOf(s.Format, s.Key)
	s.content.reading, inReading = s.readingAs(s.content.format)
	s.every, inPoll = ParsePoll(s.Poll, 5*time.Second)
	s.content.publicKey, inPublicKey = parsePublicKey(s.Minisign)
	s.content.name, s.content.allowsEmpty = s.String(), s.AllowEmpty
	s.calls = newBoundedCalls(storageLimit)
	s.content.read = s.open
	if s.content.publicKey != nil {
		s.content.signature = s.beside(s.Key + ".minisig")
	}
	if s.Expect != "" {
		s.content.expectations, s.content.expectName = s.beside(s.Expect), s.Expect
	}
	var inStart error
	s.content.reach.StartsWithout, inStart = ParseStart(s.Start)
	return errors.Join(inKey, inStorage, inFormat, inReading, inPoll, inPublicKey, inStart)
}

// findStorage returns the storage of the block, or Caddy's own.
func (s *Storage) findStorage(ctx caddy.Context) (certmagic.Storage, error) {
	if s.StorageRaw == nil {
		return ctx.Storage(), nil
	}
	module, err := ctx.LoadModule(s, "StorageRaw")
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return module.(caddy.StorageConverter).CertMagicStorage()
}

// beside returns a function that loads an entry that belongs to the rules.
func (s *Storage) beside(key string) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) { return s.load(ctx, key) }
}

// open calls use with the entry.
func (s *Storage) open(ctx context.Context, use func(io.Reader) error) error {
	b, err := s.load(ctx, s.Key)
	if err != nil {
		return err
	}
	return use(bytes.NewReader(b))
}

// storageLimit is how long a storage may take to answer; it is often behind a network.
const storageLimit = 10 * time.Second

func (s *Storage) load(ctx context.Context, key string) ([]byte, error) {
	if files, are := s.storage.(*certmagic.FileStorage); are {
		return readRegular(ctx, s.calls, files.Filename(key)) // Load would wait for a pipe
	}
	b, err := callBounded(ctx, s.calls, func(ctx context.Context) ([]byte, error) {
		return s.storage.Load(ctx, key)
	})
	if err == nil && len(b) > maxBeside {
		return nil, errTooLong
	}
	return b, plainly(err)
}

// String returns "storage" and the entry's key.
func (s *Storage) String() string { return "storage " + s.Key }

// Read reads the entry.
func (s *Storage) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	s.expected, version, err = s.content.rules(ctx, add)
	return version, err
}

// Locate passes the rules with their lines, if they have not changed; see [Annotated].
func (s *Storage) Locate(
	ctx context.Context, version string, seen func(resolver.Rule),
) (isThere bool) {
	return s.content.locate(ctx, version, seen)
}

// Remarks returns the remarks of the last reading; see [Annotated].
func (s *Storage) Remarks() Remarks { return Remarks{s.expected, s.content.warnings} }

// AllowsEmpty reports whether the entry may lose all its rules; see [Emptiable].
func (s *Storage) AllowsEmpty() bool { return s.AllowEmpty }

// Reach returns whether the entry can be read; see [Observed].
func (s *Storage) Reach() *Reachability { return &s.content.reach }

// Watch polls the entry: not every storage knows when its entries change.
func (s *Storage) Watch(ctx context.Context, version string, changed func()) {
	s.content.seen.begin(version)
	s.content.seen.poll(ctx, s.every, s.content.state, changed)
}

// Writable returns why the entry cannot be edited, or nil.
func (s *Storage) Writable() error { return s.content.writable() }

// Written returns a rule as the entry has it; see [Writable].
func (s *Storage) Written(rule resolver.Rule) (string, error) {
	return rulefile.Written(rule, s.content.format)
}

// Edit stores the edited entry under the storage's lock for it. So servers that share the entry
// edit it one after the other.
func (s *Storage) Edit(
	ctx context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	old, err := s.load(ctx, s.Key)
	if err != nil {
		return "", err
	}
	read := func(_ context.Context, use func(io.Reader) error) error {
		return use(bytes.NewReader(old))
	}
	w, err := s.content.planEdit(ctx, read, version, edit)
	if err != nil {
		return "", err
	}
	var edited bytes.Buffer
	edited.Grow(len(old) + bytes.MinRead)
	digest, err := w.copyTo(&edited, bytes.NewReader(old))
	if err != nil {
		return "", err
	}
	if err := w.check(bytes.NewReader(edited.Bytes()), digest); err != nil {
		return "", err
	}
	newVersion, err = w.install(func() error {
		return doBounded(ctx, s.calls, func(ctx context.Context) error {
			return s.storage.Store(ctx, s.Key, edited.Bytes())
		})
	})
	if err == nil {
		s.expected = w.expected
	}
	return newVersion, err
}

// lock waits until no other server edits the entry, up to a limit.
func (s *Storage) lock(ctx context.Context) (func(), error) {
	name := s.Key + ".edit"
	ctx, cancel := context.WithCancel(ctx) // some storages hold a lock only while this lasts
	unlock := func() {
		_ = doBounded(context.WithoutCancel(ctx), s.calls, func(ctx context.Context) error {
			return s.storage.Unlock(ctx, name) // otherwise the lock expires
		})
		cancel()
	}
	var decided atomic.Bool // the lock is this edit's, or nobody waits for it any more
	err := doBounded(ctx, newBoundedCalls(lockLimit), func(context.Context) error {
		if err := s.storage.Lock(ctx, name); err != nil {
			return err
		}
		if !decided.CompareAndSwap(false, true) {
			unlock()
		}
		return nil
	})
	if err != nil && decided.CompareAndSwap(false, true) {
		cancel()
		if _, late := errors.AsType[noAnswer](err); late {
			err = beingEdited
		}
		return nil, err
	}
	return unlock, nil
}

// UnmarshalCaddyfile sets up the source from what follows "from":
//
//	storage <key> {
//		storage <module> ...
//		format <json|csv|redirects>
//		poll <interval|off>
//		expect <key>
//		minisign <public_key>
//		start <refuse|without>
//		allow_empty
//		dialect <netlify|cloudflare>
//		unsupported <error|skip>
//		host <name>...
//	}
func (s *Storage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	options := contentOptions(&s.Key, &s.Format, &s.Poll, &s.Expect, &s.Minisign,
		&s.Start, &s.AllowEmpty, &s.RedirectsOptions)
	options = append(options, BlockOption{Name: "storage", Unmarshal: s.unmarshalStorage})
	block := Block{Argument: "one key", Value: &s.Key, Options: options}
	return block.Unmarshal(d)
}

func (s *Storage) unmarshalStorage(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	name := d.Val()
	module, err := caddyfile.UnmarshalModule(d, "caddy.storage."+name)
	if err != nil {
		return err
	}
	if _, ok := module.(caddy.StorageConverter); !ok {
		return d.Errf("%s is not a storage", name)
	}
	s.StorageRaw = caddyconfig.JSONModuleObject(module, "module", name, nil)
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Storage)(nil)
	_ caddyfile.Unmarshaler = (*Storage)(nil)
	_ Source                = (*Storage)(nil)
	_ Annotated             = (*Storage)(nil)
	_ Emptiable             = (*Storage)(nil)
	_ Observed              = (*Storage)(nil)
	_ Writable              = (*Storage)(nil)
)
