package source_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Pages is a source with a rule for each file of a directory: guide.html has the key "guide".
type Pages struct {
	Directory string `json:"directory"`
}

func init() { caddy.RegisterModule(new(Pages)) }

func (*Pages) CaddyModule() caddy.ModuleInfo {
	const id = "http.shortlink.sources.pages"
	return caddy.ModuleInfo{ID: id, New: func() caddy.Module { return new(Pages) }}
}

func (p *Pages) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return (&source.Block{Argument: "one directory", Value: &p.Directory}).Unmarshal(d)
}

func (p *Pages) String() string { return "pages " + p.Directory }

func (p *Pages) Read(_ context.Context, add func(resolver.Rule)) (version string, err error) {
	files, err := os.ReadDir(p.Directory)
	for _, file := range files {
		key, at := strings.TrimSuffix(file.Name(), ".html"), resolver.Position{Source: p.String()}
		add(resolver.Rule{Key: key, Value: "/pages/" + file.Name(), Position: at})
		version += key + "\n"
	}
	return version, err
}

func (p *Pages) Watch(ctx context.Context, version string, changed func()) {
	for ctx.Err() == nil {
		now, err := p.Read(ctx, func(resolver.Rule) {})
		if err != nil {
			now = err.Error()
		}
		if now != version {
			changed()
		}
		version = now
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// A handler reads the block, provisions the source, reads it, and watches it. Here it is read once.
func ExampleSource() {
	directory, err := os.MkdirTemp("", "pages")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(directory)
	for _, name := range []string{"guide.html", "plans.html"} {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			fmt.Println(err)
		}
	}
	var pages source.Source = new(Pages)
	err = pages.(caddyfile.Unmarshaler).UnmarshalCaddyfile(
		caddyfile.NewTestDispenser("pages " + directory))
	if err != nil {
		fmt.Println(err)
	}
	_, err = pages.Read(context.Background(), func(rule resolver.Rule) {
		fmt.Println(rule.Key, rule.Value)
	})
	fmt.Println("error:", err)
	// Output:
	// guide /pages/guide.html
	// plans /pages/plans.html
	// error: <nil>
}

// Table is a source in memory that does all that a source can do.
type Table struct {
	rules   map[string]string
	edits   int
	read    int64
	down    error
	reach   source.Reachability
	changes chan string // keys
}

func (t *Table) String() string { return "table" }

func (t *Table) Read(_ context.Context, add func(resolver.Rule)) (version string, err error) {
	if t.read = 0; t.down != nil {
		t.reach.Fail(t.down)
		return "", t.down
	}
	t.reach.Succeed()
	for key, value := range t.rules {
		t.read++
		add(resolver.Rule{Key: key, Value: value})
	}
	return fmt.Sprint(t.edits), nil
}

func (t *Table) Watch(ctx context.Context, _ string, _ func()) { <-ctx.Done() }

// Remarks warns of values that somebody has still to write.
func (t *Table) Remarks() (remarks source.Remarks) {
	for _, key := range slices.Sorted(maps.Keys(t.rules)) {
		if strings.Contains(t.rules[key], "TODO") {
			remarks.Warnings = append(remarks.Warnings,
				lint.Warning{Kind: "to do", Key: key, Message: "the destination is to be written"})
		}
	}
	return remarks
}

// Locate has no lines to tell.
func (*Table) Locate(context.Context, string, func(resolver.Rule)) bool { return false }

func ExampleAnnotated() {
	var table source.Annotated = &Table{rules: map[string]string{"a": "https://TODO.example"}}
	for _, warning := range table.Remarks().Warnings {
		fmt.Println(warning.Key, warning.Message)
	}
	// Output: a the destination is to be written
}

// Size counts rules instead of bytes, as Done does.
func (t *Table) Size(context.Context) int64 { return int64(len(t.rules)) }

func (t *Table) Done() int64 { return t.read }

func ExampleMeasured() {
	var table source.Measured = &Table{rules: map[string]string{"a": "/x", "b": "/y"}}
	_, _ = table.Read(context.Background(), func(resolver.Rule) {
		fmt.Println(table.Done(), "of", table.Size(context.Background()))
	})
	// Output:
	// 1 of 2
	// 2 of 2
}

func (t *Table) Writable() error { return nil }

func (t *Table) Written(rule resolver.Rule) (string, error) {
	return rule.Key + " = " + rule.Value, nil
}

func (t *Table) Edit(
	_ context.Context, version string, edit rulefile.Edit,
) (newVersion string, err error) {
	if version != fmt.Sprint(t.edits) {
		return "", source.ErrChanged
	}
	for _, change := range edit.Changes {
		delete(t.rules, change.Key)
		if change.Rule != nil {
			t.rules[change.Rule.Key] = change.Rule.Value
		}
	}
	t.edits++
	return fmt.Sprint(t.edits), nil
}

func ExampleWritable() {
	var table source.Writable = &Table{rules: map[string]string{"a": "/x"}}
	edit := rulefile.Edit{Changes: []rulefile.Change{
		{Key: "a"}, // is removed
		{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/y"}},
	}}
	fmt.Println(table.Written(*edit.Changes[1].Rule))
	version, err := table.Edit(context.Background(), "0", edit)
	fmt.Println(version, err)
	_, err = table.Edit(context.Background(), "0", edit)
	fmt.Println(err)
	// Output:
	// b = /y <nil>
	// 1 <nil>
	// the source has changed since its rules were read; try again
}

func (t *Table) AllowsEmpty() bool { return true }

func ExampleEmptiable() {
	var table source.Emptiable = new(Table)
	fmt.Println(table.AllowsEmpty())
	// Output: true
}

func (t *Table) Reach() *source.Reachability { return &t.reach }

func ExampleObserved() {
	var table source.Observed = &Table{down: errors.New("the server is down")}
	_, _ = table.Read(context.Background(), func(resolver.Rule) {})
	fmt.Println(table.Reach().Outage().Err)
	// Output: the server is down
}

func (t *Table) ByKey() bool { return true }

func (t *Table) WatchKeys(ctx context.Context, changed func(keys ...string)) {
	for changed(); ; {
		select {
		case <-ctx.Done():
			return
		case key := <-t.changes:
			changed(key)
		}
	}
}

func (t *Table) ReadKeys(_ context.Context, keys []string, set func(resolver.Rule),
	remove func(key string)) error {
	for _, key := range keys {
		if value, is := t.rules[key]; is {
			set(resolver.Rule{Key: key, Value: value})
		} else {
			remove(key)
		}
	}
	return nil
}

func ExampleChanging() {
	table := &Table{rules: map[string]string{"a": "/x"}, changes: make(chan string)}
	var changing source.Changing = table
	ctx, end := context.WithCancel(context.Background())
	told := make(chan []string)
	go changing.WatchKeys(ctx, func(keys ...string) { told <- keys })
	fmt.Println(<-told) // none, which is all
	table.changes <- "b"
	keys := <-told
	_ = changing.ReadKeys(ctx, append(keys, "a"),
		func(rule resolver.Rule) { fmt.Println(rule.Key, rule.Value) },
		func(key string) { fmt.Println(key, "is removed") })
	end()
	// Output:
	// []
	// b is removed
	// a /x
}
