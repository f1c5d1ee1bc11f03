package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"
	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage" // for its module

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// rewritten is a source of a file or an entry, which hold the same, with what tests ask.
type rewritten interface {
	Writable
	Annotated
}

// expectedFile returns sources of a file, and of an entry that is this file, with expectations.
func expectedFile(t *testing.T, name, content string) (file *File, entry *Storage) {
	t.Helper()
	directory := t.TempDir()
	expect := filepath.Join(directory, "expect.json")
	must(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	must(t, os.WriteFile(expect, []byte("{\n\"/a/b\": \"https://a.example/b\"}"), 0o600))
	file = &File{Path: filepath.Join(directory, name)}
	file.Expect = expect
	must(t, file.Provision(caddy.Context{}))
	storage := fmt.Appendf(nil, `{"module": "file_system", "root": %q}`, directory)
	entry = &Storage{Key: name, StorageRaw: storage}
	entry.Expect = "expect.json"
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	must(t, entry.Provision(ctx))
	return file, entry
}

// editOf returns an edit of some changes.
func editOf(changes ...rulefile.Change) rulefile.Edit { return rulefile.Edit{Changes: changes} }

func TestAnEditTellsWhatTheNextReadingFinds(t *testing.T) {
	contents := map[string]string{
		"links.json": "{\n\t\"a\": \"https://a.example\",\n\t\"b\": {\"to\": \"/a\"}," +
			"\n\t\"c\": \"/b\"\n}\n",
		"links.csv": "key,to\n/a,https://a.example\nb,/a\n\nc,/b\n",
		"_redirects": "# ours\n/b https://b.example\n/a/* https://a.example/:splat\n" +
			"/c /d\n/c/* /d/:splat\n/a /e\n",
	}
	exact := resolver.Rule{Key: "new/e", Value: "https://e.example", Exact: true}
	replaced := rulefile.Change{
		Key: "c", Rule: &resolver.Rule{Key: "c", Value: "https://c.example/x"},
	}
	edits := map[string]rulefile.Edit{
		"added":    editOf(rulefile.Change{Key: "new/e", Rule: &exact}),
		"replaced": editOf(replaced),
		"removed":  editOf(rulefile.Change{Key: "b"}),
		"one of each": editOf(rulefile.Change{Key: "b"}, replaced,
			rulefile.Change{Key: "new/e", Rule: &exact}),
	}
	for name, content := range contents {
		for what, edit := range edits {
			if last := &edit.Changes[len(edit.Changes)-1]; name == "links.csv" && last.Rule == &exact {
				edit.Changes = slices.Clone(edit.Changes)
				edit.Changes[len(edit.Changes)-1].Rule = &resolver.Rule{
					Key: "new/e", Value: "https://e.example",
				}
			}
			file, entry := expectedFile(t, name, content)
			for _, s := range []rewritten{file, entry} {
				t.Run(fmt.Sprintf("%s, %T: %s", name, s, what), func(t *testing.T) {
					must(t, os.WriteFile(file.path, []byte(content), 0o600))
					checkRewriting(t, s, edit)
				})
			}
		}
	}
}

// checkRewriting makes an edit, and compares what that tells with what a reading does.
func checkRewriting(t *testing.T, s rewritten, edit rulefile.Edit) {
	t.Helper()
	before, err := s.Read(t.Context(), ignoreRule)
	for errors.Is(err, ErrBeingWritten) {
		before, err = s.Read(t.Context(), ignoreRule)
	}
	must(t, err)
	version, err := s.Edit(t.Context(), before, edit)
	must(t, err)
	remarks := s.Remarks()
	next, err := s.Read(t.Context(), ignoreRule)
	must(t, err)
	if _, isFile := s.(*File); strings.HasSuffix(s.String(), "_redirects") {
		if version != "" {
			t.Errorf("the version of lines is %s (%t)", version, isFile)
		}
	} else if version != next || version == before {
		t.Errorf("the version is %s, and was %s; the next one is %s", version, before, next)
	}
	if !reflect.DeepEqual(remarks, s.Remarks()) || len(remarks.Expectations.Expectations) != 1 {
		t.Errorf("the remarks are %v, and then %v", remarks, s.Remarks())
	}
}

func TestAnEditOfOtherExpectationsIsRefused(t *testing.T) {
	file, entry := expectedFile(t, "links.json", `{"a": "https://a.example"}`)
	for _, s := range []rewritten{file, entry} {
		version, err := s.Read(t.Context(), ignoreRule)
		must(t, err)
		must(t, os.WriteFile(file.Expect, fmt.Appendf(nil, `{"/x%T": "pass"}`, s), 0o600))
		edit := editOf(rulefile.Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/a"}})
		if _, err := s.Edit(t.Context(), version, edit); !errors.Is(err, ErrChanged) {
			t.Errorf("%T: got %v", s, err)
		}
	}
}

func TestACopyThatIsDamagedIsNotTaken(t *testing.T) {
	const old = "{\"a\": \"https://a.example\"} "
	c := &content{name: "links", format: rulefile.JSON}
	for name, damaged := range map[string]func(string) string{
		"another rule":  func(text string) string { return strings.Replace(text, "/a", "/c", 1) },
		"another space": func(text string) string { return strings.TrimSpace(text) + "\n" },
		"a part":        func(text string) string { return text[:len(text)/2] },
		"none":          func(text string) string { return text },
	} {
		t.Run(name, func(t *testing.T) {
			read := readerOf(old)
			version, err := c.readAll(t.Context(), read, nil, func(*reading, siblings) bool { return false })
			must(t, err)
			edit := editOf(rulefile.Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/a"}})
			w, err := c.planEdit(t.Context(), read, version, edit)
			must(t, err)
			var written bytes.Buffer
			digest, err := w.copyTo(&written, strings.NewReader(old))
			must(t, err)
			err = w.check(strings.NewReader(damaged(written.String())), digest)
			if damage := name != "none"; damage != errors.Is(err, errDamaged) || !damage && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// readerOf returns what passes a text.
func readerOf(text string) func(context.Context, func(io.Reader) error) error {
	return func(_ context.Context, use func(io.Reader) error) error {
		return use(strings.NewReader(text))
	}
}

// looker returns what a poll of a file does at each tick.
func looker(t *testing.T, s *File, version string) func() (changed bool) {
	s.content.seen.begin(version)
	watch := fileWatch{source: s}
	return func() bool { return s.content.seen.lookAt(t.Context(), watch.look) }
}

func TestAPollTakesNoRewriteForAChange(t *testing.T) {
	s := fileSource(t, "links.json", `{"a": "https://a.example"}`)
	version, err := s.Read(t.Context(), ignoreRule)
	must(t, err)
	changed := looker(t, s, version)
	for i := range 3 {
		if changed() {
			t.Errorf("after %d edits the file is said to have changed", i)
		}
		key := fmt.Sprint(i)
		edit := editOf(rulefile.Change{Key: key, Rule: &resolver.Rule{Key: key, Value: "/a"}})
		version, err = s.Edit(t.Context(), version, edit)
		must(t, err)
	}
	replaceFile(t, s.path, `{"b": "https://b.example"}`)
	if !changed() {
		t.Error("what others do is not seen any more")
	}
}

// Such a look has read the old file, and the edit is served already.
func TestALookThatGoesOnDuringARewriteDoesNotCount(t *testing.T) {
	s := fileSource(t, "links.json", `{"a": "https://a.example"}`)
	version, err := s.Read(t.Context(), ignoreRule)
	must(t, err)
	edit := editOf(rulefile.Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/a"}})
	s.content.seen.begin(version)
	watch := fileWatch{source: s}
	changed := s.content.seen.lookAt(t.Context(), func(ctx context.Context) string {
		state := watch.look(ctx)
		_, err := s.Edit(ctx, version, edit)
		must(t, err)
		return state
	})
	if changed || s.content.seen.lookAt(t.Context(), watch.look) {
		t.Error("the edit is taken for a change")
	}
}

// Else the load that the first look asks for would be made twice, since the second one sees the new
// file before it.
func TestAFileThatIsReplacedDuringALookIsToldOfOnce(t *testing.T) {
	s := fileSource(t, "links.json", `{"a": "https://a.example"}`)
	version, err := s.Read(t.Context(), ignoreRule)
	must(t, err)
	changed := looker(t, s, version)
	isReplaced := false
	countRead(s, func(int64) {
		if !isReplaced {
			replaceFile(t, s.path, `{"a": `)
			isReplaced = true
		}
	})
	told := 0
	for range 4 {
		if changed() {
			told++
		}
	}
	if !isReplaced || told != 1 {
		t.Errorf("it is told %d times", told)
	}
}

func TestRewritesByManyAtOnceLoseNone(t *testing.T) {
	const sources, editsOfEach = 4, 10
	first := fileSource(t, "links.json", "{}")
	var all sync.WaitGroup
	for n := range sources {
		all.Go(func() {
			s := &File{Path: first.path}
			if err := s.Provision(caddy.Context{}); err != nil {
				t.Error(err)
			}
			for i := range editsOfEach {
				rewriteUntilDone(t, s, fmt.Sprintf("%d-%d", n, i))
			}
		})
	}
	all.Wait()
	rules := 0
	_, err := first.Read(t.Context(), func(resolver.Rule) { rules++ })
	if err != nil || rules != sources*editsOfEach {
		t.Errorf("there are %d rules, %v", rules, err)
	}
}

// rewriteUntilDone adds a rule, as often as others are faster.
func rewriteUntilDone(t *testing.T, s *File, key string) {
	edit := editOf(rulefile.Change{Key: key, Rule: &resolver.Rule{Key: key,
		Value: "https://a.example"}})
	for {
		version, err := s.Read(t.Context(), ignoreRule)
		if err == nil {
			_, err = s.Edit(t.Context(), version, edit)
		}
		switch {
		case err == nil:
			return
		case !errors.Is(err, ErrChanged) && !errors.Is(err, ErrBeingWritten):
			t.Error(err)
			return
		}
	}
}

func TestASignedFileIsNotRewritten(t *testing.T) {
	s := fileSource(t, "links.json", `{"a": "https://a.example"}`)
	key, _, err := minisign.GenerateKey(nil)
	must(t, err)
	s.content.publicKey = &key
	_, err = s.Edit(t.Context(), "", editOf(rulefile.Change{Key: "a"}))
	if !errors.Is(err, ErrNotWritable) {
		t.Errorf("got %v", err)
	}
}

// givenUp is a context that ends when there is a second file in a folder.
type givenUp struct {
	context.Context
	folder string
}

func (g givenUp) Err() error {
	if entries, _ := os.ReadDir(g.folder); len(entries) > 1 {
		return context.Canceled
	}
	return g.Context.Err()
}

func TestARewriteThatIsGivenUpChangesNothing(t *testing.T) {
	old := `{"a": "https://a.example"` + strings.Repeat(" ", 1<<20) + "}"
	s := fileSource(t, "links.json", old)
	version, err := s.Read(t.Context(), ignoreRule)
	must(t, err)
	edit := editOf(rulefile.Change{Key: "b", Rule: &resolver.Rule{Key: "b", Value: "/a"}})
	_, err = s.Edit(givenUp{t.Context(), filepath.Dir(s.path)}, version, edit)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	content, err := os.ReadFile(s.path)
	must(t, err)
	entries, err := os.ReadDir(filepath.Dir(s.path))
	must(t, err)
	if string(content) != old || len(entries) != 1 {
		t.Errorf("it holds %.100s, and there are %v", content, entries)
	}
	if state := s.content.state(t.Context()); state != version || s.content.seen.last() != version {
		t.Errorf("a poll sees %s", state)
	}
}
