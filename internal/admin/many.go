package admin

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// MediaPatch is the media type of a JSON merge patch.
const MediaPatch = "application/merge-patch+json"

// maxRules is the largest body that has many rules: a few million of them.
const maxRules = 256 << 20

// editRules changes many rules as one, or tells what that would do. The ETag of the answer is that
// of the rules that serve then.
func editRules(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	isDry, err := isDryRun(r.URL)
	if err != nil {
		return err
	}
	conditions, err := client.PreconditionsOf(r)
	if err != nil {
		return client.Errorf(http.StatusBadRequest, "%w", err)
	}
	if conditions.WantsNone() {
		return client.Errorf(http.StatusPreconditionFailed,
			"there are rules, and If-None-Match: * asks for none")
	}
	edit := &live.Edit{Remote: r.RemoteAddr, IfRules: conditions.OfRules()}
	if edit.Make, err = readRules(w, r); err != nil {
		return err
	}
	if isDry {
		effects, err := h.Preview(r.Context(), edit)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", client.EntityTag(effects.Before))
		return writeJSON(w, show.ChangesOf(effects))
	}
	return answerMade(w, h, edit, func() error { _, err := h.Apply(r.Context(), edit); return err })
}

// answerMade answers with what an edit of many rules changes that apply makes.
func answerMade(w http.ResponseWriter, h *live.Ruleset, edit *live.Edit, apply func() error) error {
	var made *effects.Effects
	edit.Confirm = func(f *effects.Effects) error { made = f; return nil }
	if err := apply(); err != nil {
		return err
	}
	made.Digest = h.Serving().Digest // of _redirects, what its lines make of the rules
	w.Header().Set("ETag", client.EntityTag(made.Digest))
	return writeJSON(w, show.ChangesOf(made))
}

// isDryRun reports whether an edit is to change nothing. A misspelt query must not change rules.
func isDryRun(u *url.URL) (bool, error) {
	switch u.RawQuery {
	case "", "dry_run=false":
		return false, nil
	case "dry_run=true":
		return true, nil
	}
	return false, client.Errorf(http.StatusBadRequest,
		"an edit of many rules takes the query ?dry_run=true or none, not %q", "?"+u.RawQuery)
}

// readRules reads the body of an edit of many rules, and returns what makes changes of it.
func readRules(w http.ResponseWriter, r *http.Request) (
	make func(*live.Loaded) ([]live.Change, error), err error,
) {
	kind := mediaJSON
	if r.Method == http.MethodPatch {
		kind = MediaPatch
		w.Header().Set("Accept-Patch", MediaPatch)
	}
	if err := checkMediaType(r, kind); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRules))
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, client.Errorf(http.StatusRequestEntityTooLarge,
			"the body is longer than %d bytes; make the edit in parts", tooLarge.Limit)
	}
	if err != nil {
		return nil, client.Errorf(http.StatusBadRequest, "the body cannot be read: %w", err)
	}
	return func(serving *live.Loaded) ([]live.Change, error) {
		isWhole := r.Method == http.MethodPut
		return live.ChangesFor(serving, isWhole, func(
			now func(string) (resolver.Rule, bool), change func(resolver.Rule, bool),
		) error {
			if isWhole {
				now = nil // it is no patch
			}
			err := rulefile.ReadJSONPatch(bytes.NewReader(body), "", now, change)
			if err != nil {
				return client.Errorf(http.StatusBadRequest, "%w", printable.Shorten(err))
			}
			return nil
		})
	}, nil
}
