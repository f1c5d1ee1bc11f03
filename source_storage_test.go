package shortlink_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"
)

// memory is a storage of entries that a test writes, and whose network a test can cut.
type memory struct{ certmagic.Storage }

var entries = struct {
	sync.Mutex
	of    map[string]string
	loads int
	cut   func(load int) bool // asked with the number of the load, from 1
}{}

// store replaces all entries. cut, if not nil, says which of the following loads fail.
func store(of map[string]string, cut func(load int) bool) {
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

// followStorage starts a Caddy that follows the entry links.json of a memory.
func followStorage(t *testing.T, options string) *liveServer {
	t.Helper()
	s := &liveServer{log: t.TempDir() + "/caddy.log"}
	s.server = serveWith(t, logTo(s.log),
		"shortlink {\n from storage links.json {\n storage test_memory\n poll 5ms\n "+options+"\n }\n }\n respond next 299")
	return s
}

func TestAnEntryThatIsDeletedServesOnUntilItIsBack(t *testing.T) {
	store(map[string]string{"links.json": `{"a": "https://old.example"}`}, nil)
	s := followStorage(t, "")
	store(nil, nil)
	if entry := s.logged(t, 1, rejected); !strings.Contains(fmt.Sprint(entry["error"]), "source storage links.json: file does not exist") {
		t.Errorf("the entry is %v", entry)
	}
	if got := s.get(t, "/a").location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	store(map[string]string{"links.json": `{"a": "https://new.example"}`}, nil)
	s.eventually(t, "/a", "302 https://new.example/")
}

// The poll reads first and finds something new, then the reading fails: there is nothing new at the
// next poll.
func TestAStorageThatFailsForAMomentLosesNoChange(t *testing.T) {
	store(map[string]string{"links.json": `{"a": "https://old.example"}`}, nil)
	s := followStorage(t, "")
	store(map[string]string{"links.json": `{"a": "https://new.example"}`}, func(load int) bool {
		return load == 2
	})
	s.eventually(t, "/a", "302 https://new.example/")
}

func TestAnEntryIsHeldToWhatLiesBesideIt(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	mustDo(t, err)
	// storeSigned stores rules with the signature of what was signed.
	storeSigned := func(signed, rules, expect string) {
		store(map[string]string{
			"links.json": rules, "expect.json": expect,
			"links.json.minisig": signature(t, signed, private),
		}, nil)
	}
	const before, evil, after = `{"a": "https://old.example"}`, `{"a": "https://evil.test"}`,
		`{"a": "https://new.example"}`
	storeSigned(before, before, `{"/a": "https://old.example"}`)
	s := followStorage(t, "minisign "+public.String()+"\n expect expect.json")

	storeSigned(before, evil, `{}`)
	s.logged(t, 1, "its signature is none of this content")
	storeSigned(after, after, `{"/a": "https://old.example"}`)
	s.logged(t, 1, "expect /a https://old.example: it is https://new.example/")
	if got := s.get(t, "/a").location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	storeSigned(after, after, `{"/a": "https://new.example"}`)
	s.eventually(t, "/a", "302 https://new.example/")
}
