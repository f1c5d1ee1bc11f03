package history

import (
	"encoding/json"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Change is a change of the rules that serve.
type Change struct {
	Time time.Time `json:"time"`
	Old  string    `json:"old_digest"`
	New  string    `json:"digest"`
	// User and Remote say who has edited, by name and by address. Source are the sources that a
	// change was found in, if it was no edit of a server that shares the storage.
	User   string `json:"user,omitempty"`
	Remote string `json:"remote,omitempty"`
	Source string `json:"source,omitempty"`
	// Added, Removed and Changed count keys.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	// First are some of the keys.
	First []FirstKey `json:"first,omitempty"`
	// Missing says why the change is kept without its content; empty if it has it.
	Missing string `json:"missing,omitempty"`
}

// Why changes have no content.
const (
	TooLarge  = "it was too large to keep"
	Forgotten = "it was forgotten"
	Unstored  = "it could not be stored for too long"
	Off       = "no history was kept then"
)

// IsEdit reports whether the change is known to be somebody's edit.
func (c *Change) IsEdit() bool { return c.User != "" || c.Remote != "" }

// Total is how many keys have changed.
func (c *Change) Total() int { return c.Added + c.Removed + c.Changed }

// Who returns who made the change: a user, an address, or a source.
func (c *Change) Who() string {
	switch {
	case c.User != "":
		return c.User
	case c.Remote != "":
		return c.Remote
	}
	return c.Source
}

// By is who has made the change, behind a space and a preposition; "" if that is not known.
func (c *Change) By() string {
	switch {
	case c.IsEdit():
		return " by " + c.Who()
	case c.Source != "":
		return " from " + c.Source
	}
	return ""
}

// FirstKey is a key, and what a change has done to it.
type FirstKey struct {
	Key  string              `json:"key"`
	Kind resolver.ChangeKind `json:"kind"`
}

// AddFirst adds keys that the change has done something to.
func (c *Change) AddFirst(kind resolver.ChangeKind, keys []string) {
	for _, key := range keys {
		c.First = append(c.First, FirstKey{key, kind})
	}
}

// KeyChange is a change of the rule of a key. A rule is its JSON value, null for none.
type KeyChange struct {
	Key    string          `json:"key"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Kind says what happened to the key.
func (k *KeyChange) Kind() resolver.ChangeKind {
	switch {
	case isNone(k.Before):
		return resolver.ChangeAdded
	case isNone(k.After):
		return resolver.ChangeRemoved
	}
	return resolver.ChangeEdited
}

// Value returns a rule as text; "" for none.
func Value(rule json.RawMessage) string {
	if isNone(rule) {
		return ""
	}
	return string(rule)
}

func isNone(rule json.RawMessage) bool { return len(rule) == 0 || string(rule) == "null" }

// Entry is a change with its content, sorted by key.
type Entry struct {
	Change
	Keys []KeyChange `json:"changes,omitempty"`
}
