package page

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// whenOf says in words when a link leads where from now on; "" for always.
func whenOf(windows []schedule.Window, now schedule.Time) string {
	for len(windows) > 1 && windows[0].Until <= now {
		windows = windows[1:]
	}
	if until := windows[0].Until; until <= now {
		return "Over since " + dayOf(until)
	}
	words := ""
	for i, w := range windows {
		if i == mostWindows {
			words += ", and more"
			break
		}
		switch isOpen := w.Since <= now; {
		case i == 0 && !isOpen:
			words = "From " + dayOf(w.Since)
		case i > 0 && w.Since != windows[i-1].Until:
			words += ", from " + dayOf(w.Since) + " " + briefly(w.Rule.Value)
		case i > 0:
			words += ", then " + briefly(w.Rule.Value)
		}
		if w.Until != schedule.End {
			words += " until " + dayOf(w.Until)
		}
	}
	if until, is := strings.CutPrefix(words, " until"); is {
		words = "Until" + until
	}
	return words
}

// mostWindows is how many windows of a link are put in words.
const mostWindows = 20

// dayOf returns a time for people.
func dayOf(at schedule.Time) string {
	t := time.Unix(int64(at), 0).UTC()
	if t.Truncate(24 * time.Hour).Equal(t) {
		return t.Format("2 January 2006")
	}
	return t.Format("2 January 2006 15:04:05 UTC")
}

// briefly returns a destination without its scheme.
func briefly(destination string) string {
	_, rest, isURL := strings.Cut(destination, "://")
	if !isURL {
		return destination
	}
	return cut(strings.TrimSuffix(rest, "/"), mostBrief)
}

// keepsWindows refuses an edit that would lose windows of a rule, nil for none, unsaid.
func (r *request) keepsWindows(now *resolver.Rule) error {
	switch {
	case now == nil || now.Windows == "":
		return nil
	case ruleOf(*now).Windows != "":
		return client.Errorf(http.StatusConflict, "%s", severalWindows)
	case !r.PostForm.Has("since") && !r.PostForm.Has("until"):
		return client.Errorf(http.StatusConflict, "the link has a window (%s), and the edit has neither "+
			"since nor until; send both, empty where there is no limit", ruleOf(*now).When)
	}
	return nil
}

// severalWindows says why the form cannot change a rule.
const severalWindows = "the link has several windows, and a form has fields for one; " +
	"change its value where it stands"
