package redis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// copyHas reports whether a stored copy in a folder has a text.
func copyHas(t *testing.T, folder, text string) bool {
	t.Helper()
	copies, err := filepath.Glob(filepath.Join(folder, "shortlink", "redis", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range copies {
		if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}

func TestCaddyServesTheStoredCopyUntilRedisIsBackAndFollowsThen(t *testing.T) {
	for hash, set := range map[string]func(server *realServer, key, value string){
		"links": func(server *realServer, key, value string) { server.do(t, "hset", "links", key, value) },
		"links:*": func(server *realServer, key, value string) {
			server.do(t, "set", "links:"+key, value)
		},
	} {
		t.Run(hash, func(t *testing.T) {
			server := startServer(t)
			set(server, "a", "https://a.example")
			block := "shortlink {\n name links\n from redis " + hash + " {\n url " + server.url("") +
				"\n }\n }\n respond next 299"
			s := testcaddy.Server{Storage: testcaddy.StorageDir(t)}
			t.Cleanup(func() { _ = caddy.Stop() })
			s.Load(t, block)
			set(server, "b", "https://b.example")
			s.Eventually(t, "/b", "302 https://b.example/")
			testcaddy.Must(t, caddy.Stop())
			if !copyHas(t, s.Storage, "https://b.example") {
				t.Error("the last change is not in the stored copy")
			}
			server.kill()
			s.Load(t, block)
			s.Eventually(t, "/b", "302 https://b.example/")
			server.start(t)
			set(server, "a", "https://new.example")
			begun := time.Now()
			s.Eventually(t, "/a", "302 https://new.example/")
			s.Eventually(t, "/b", "299")
			t.Log(time.Since(begun))
		})
	}
}

func TestCaddyStartsWithoutRedisAndServesItsRulesOnceItIsThere(t *testing.T) {
	for _, hash := range []string{"links", "links:*"} {
		t.Run(hash, func(t *testing.T) {
			server := startServer(t)
			server.kill()
			s := testcaddy.Server{Storage: testcaddy.StorageDir(t)}
			t.Cleanup(func() { _ = caddy.Stop() })
			s.Load(t, "shortlink {\n name links\n a https://a.example\n from redis "+hash+" {\n url "+
				server.url("")+"\n start without\n }\n }\n respond next 404")
			s.Leads(t, "/a", "302 https://a.example/")
			s.Leads(t, "/b", "503")
			server.start(t)
			server.do(t, "hset", "links", "b", "https://b.example")
			server.do(t, "set", "links:b", "https://b.example")
			s.Eventually(t, "/b", "302 https://b.example/")
			s.Leads(t, "/c", "404")
		})
	}
}
