package admin

import (
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
)

// answerHistory answers requests about the changes of what served, or about the one that led to a
// digest.
func answerHistory(w http.ResponseWriter, r *http.Request, h *live.Ruleset, of string) error {
	digest, what, _ := strings.Cut(of, "/")
	switch {
	case of == "":
		return allow(w, r, "GET", func() error { return listHistory(w, r, h) })
	case what == "restore":
		return allow(w, r, "POST", func() error { return restore(w, r, h, digest) })
	case what != "":
		return client.Errorf(http.StatusNotFound, "a change has no %q; it has restore", what)
	case r.Method == http.MethodDelete:
		err := h.Past().Forget(r.Context(), digest)
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return notAllowed(w, r, "GET", "DELETE")
	}
	return allow(w, r, "GET", func() error {
		change, err := h.Past().ChangeTo(r.Context(), digest)
		if err != nil {
			return err
		}
		return writeJSON(w, change)
	})
}

// listHistory answers with the changes, newest first: all, or those of a key.
func listHistory(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	changes, err := h.Past().List(r.Context(), r.URL.Query().Get("key"))
	if err != nil {
		return err
	}
	if changes == nil {
		changes = []history.Entry{}
	}
	return writeJSON(w, changes)
}

// restore makes the rules those of a digest again, and answers with what that has changed.
func restore(w http.ResponseWriter, r *http.Request, h *live.Ruleset, digest string) error {
	edit := &live.Edit{Remote: r.RemoteAddr}
	return answerMade(w, h, edit, func() error { return h.Restore(r.Context(), digest, edit) })
}
