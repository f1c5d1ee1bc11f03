package redis

import (
	"testing"

	"github.com/redis/go-redis/v9/push"
)

func TestAnInvalidationIsHeardIfItIsOfTheHash(t *testing.T) {
	for name, test := range map[string]struct {
		notification []any
		heard        bool
	}{
		"of the hash":                   {[]any{"invalidate", []any{"links2", "links"}}, true},
		"of all keys":                   {[]any{"invalidate", nil}, true},
		"of keys that begin like it":    {[]any{"invalidate", []any{"links2"}}, false},
		"of nothing that can be read":   {[]any{"invalidate"}, false},
		"twice before anybody asks":     {[]any{"invalidate", []any{"links", "links"}}, true},
		"of something that is no text":  {[]any{"invalidate", []any{int64(1)}}, false},
		"of the hash and other entries": {[]any{"invalidate", []any{int64(1), "links"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listener{hash: "links", heard: make(chan struct{}, 1)}
			for range 2 {
				if err := l.HandlePushNotification(t.Context(), push.NotificationHandlerContext{}, test.notification); err != nil {
					t.Fatal(err)
				}
			}
			if heard := len(l.heard) == 1; heard != test.heard {
				t.Errorf("heard: %v", heard)
			}
		})
	}
}
