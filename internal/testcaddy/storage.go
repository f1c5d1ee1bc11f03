package testcaddy

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"
)

// memory is a storage in memory for tests. A test writes its entries, and can make loads fail.
type memory struct{ certmagic.Storage }

var entries = struct {
	sync.Mutex
	of    map[string]string
	loads int
	cut   func(load int) bool // gets the number of the load, from 1
}{}

// StoreEntries replaces all entries. cut, if not nil, reports whether a load fails.
func StoreEntries(of map[string]string, cut func(load int) bool) {
	entries.Lock()
	defer entries.Unlock()
	entries.of, entries.loads, entries.cut = of, 0, cut
}

func init() { caddy.RegisterModule(new(memory)) }

func (*memory) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.storage.test_memory", New: func() caddy.Module {
		return new(memory)
	}}
}

func (m *memory) CertMagicStorage() (certmagic.Storage, error) { return m, nil }

func (*memory) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

func (*memory) Load(_ context.Context, key string) ([]byte, error) {
	entries.Lock()
	defer entries.Unlock()
	entries.loads++
	if entries.cut != nil && entries.cut(entries.loads) {
		return nil, errors.New("the network is cut")
	}
	entry, found := entries.of[key]
	if !found {
		return nil, fs.ErrNotExist
	}
	return []byte(entry), nil
}
