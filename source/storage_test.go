package source_test

import (
	"fmt"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// followStorage starts a Caddy that follows the entry links.json of a memory.
func followStorage(t *testing.T, options string) *testcaddy.Follower {
	t.Helper()
	s := &testcaddy.Follower{Log: t.TempDir() + "/caddy.log"}
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log),
		"shortlink {\n from storage links.json {\n storage test_memory\n poll 5ms\n "+options+"\n }\n }\n respond next 299")
	return s
}

func TestAnEntryThatIsDeletedServesOnUntilItIsBack(t *testing.T) {
	testcaddy.StoreEntries(map[string]string{"links.json": `{"a": "https://old.example"}`}, nil)
	s := followStorage(t, "")
	testcaddy.StoreEntries(nil, nil)
	if entry := s.Logged(t, 1, testcaddy.Rejected); !strings.Contains(fmt.Sprint(entry["error"]), "source storage links.json: file does not exist") {
		t.Errorf("the entry is %v", entry)
	}
	if got := s.Get(t, "/a").Location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	testcaddy.StoreEntries(map[string]string{"links.json": `{"a": "https://new.example"}`}, nil)
	s.Eventually(t, "/a", "302 https://new.example/")
}

// The poll reads first and finds something new, then the reading fails: there is nothing new at the
// next poll.
func TestAStorageThatFailsForAMomentLosesNoChange(t *testing.T) {
	testcaddy.StoreEntries(map[string]string{"links.json": `{"a": "https://old.example"}`}, nil)
	s := followStorage(t, "")
	testcaddy.StoreEntries(map[string]string{"links.json": `{"a": "https://new.example"}`}, func(load int) bool {
		return load == 2
	})
	s.Eventually(t, "/a", "302 https://new.example/")
}

func TestAnEntryIsHeldToWhatLiesBesideIt(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	testcaddy.Must(t, err)
	// storeSigned stores rules with the signature of what was signed.
	storeSigned := func(signed, rules, expect string) {
		testcaddy.StoreEntries(map[string]string{
			"links.json": rules, "expect.json": expect,
			"links.json.minisig": testcaddy.Signature(t, signed, private),
		}, nil)
	}
	const before, evil, after = `{"a": "https://old.example"}`, `{"a": "https://evil.test"}`,
		`{"a": "https://new.example"}`
	storeSigned(before, before, `{"/a": "https://old.example"}`)
	s := followStorage(t, "minisign "+public.String()+"\n expect expect.json")

	storeSigned(before, evil, `{}`)
	s.Logged(t, 1, "its signature does not match this content")
	storeSigned(after, after, `{"/a": "https://old.example"}`)
	s.Logged(t, 1, "expect /a https://old.example: it is https://new.example/")
	if got := s.Get(t, "/a").Location(); got != "302 https://old.example/" {
		t.Errorf("got %s", got)
	}
	storeSigned(after, after, `{"/a": "https://new.example"}`)
	s.Eventually(t, "/a", "302 https://new.example/")
}
