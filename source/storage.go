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

	ContentOptions
	boundedStorage
}

// boundedStorage is a storage that is given up waiting for.
type boundedStorage struct {
	storage certmagic.Storage
	calls   *boundedCalls
}

func newBoundedStorage(storage certmagic.Storage) boundedStorage {
	return boundedStorage{storage, newBoundedCalls(storageLimit)}
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
	var inKey error
	if s.Key == "" {
		inKey = errors.New("the key of the entry is missing; write from storage <key>")
	}
	storage, inStorage := s.findStorage(ctx)
	s.boundedStorage = newBoundedStorage(storage)
	inOptions := s.provision(s.Key, 5*time.Second)
	s.content.name = s.String()
	s.content.read = s.open
	if s.content.publicKey != nil {
		s.content.signature = s.beside(s.Key + ".minisig")
	}
	if s.Expect != "" {
		s.content.expectations, s.content.expectName = s.beside(s.Expect), s.Expect
	}
	return errors.Join(inKey, inStorage, inOptions)
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

func (s *boundedStorage) load(ctx context.Context, key string) ([]byte, error) {
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

func (s *boundedStorage) store(ctx context.Context, key string, entry []byte) error {
	return doBounded(ctx, s.calls, func(ctx context.Context) error {
		return s.storage.Store(ctx, key, entry)
	})
}

// String returns "storage" and the entry's key.
func (s *Storage) String() string { return "storage " + s.Key }

// Watch polls the entry: not every storage knows when its entries change.
func (s *Storage) Watch(ctx context.Context, version string, changed func()) {
	s.content.seen.begin(version)
	s.content.seen.poll(ctx, s.every, s.content.state, changed)
}

// Writable returns why the entry cannot be edited, or nil.
func (s *Storage) Writable() error { return s.content.writable() }

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
	return w.install(func() error { return s.store(ctx, s.Key, edited.Bytes()) })
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
//		<options of a file>
//	}
func (s *Storage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	options := append(s.block(&s.Key), BlockOption{Name: "storage", Unmarshal: s.unmarshalStorage})
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
	_ Writable              = (*Storage)(nil)
)
