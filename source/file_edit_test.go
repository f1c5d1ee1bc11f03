package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// fileSource returns a source of a file that holds content.
func fileSource(t *testing.T, name, content string) *File {
	t.Helper()
	s := &File{Path: filepath.Join(t.TempDir(), name)}
	must(t, os.WriteFile(s.Path, []byte(content), 0o600))
	must(t, s.Provision(caddy.Context{}))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ignoreRule(resolver.Rule) {}

// replaceFile puts a new file in the place of another, as careful programs do.
func replaceFile(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path+".new", []byte(content), 0o600))
	must(t, os.Rename(path+".new", path))
}

func TestAFileThatIsReplacedBeforeTheExchangeComesBack(t *testing.T) {
	for name, tt := range map[string]struct {
		replaced int // how often another program replaces it
		want     string
		err      error
	}{
		"never":                                {0, "edited", nil},
		"before the exchange":                  {1, "theirs 1", ErrChanged},
		"and again before it goes back":        {2, "theirs 2", ErrChanged},
		"and again before the second one does": {3, "theirs 3", ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "links.json")
			must(t, os.WriteFile(path, []byte("old"), 0o600))
			old, err := stateOfFile(path)
			must(t, err)
			must(t, os.WriteFile(path+".edit", []byte("edited"), 0o600))
			exchanges := 0
			err = putInPlace(path+".edit", path, old, func(a, b string) error {
				if exchanges++; exchanges <= tt.replaced {
					replaceFile(t, path, "theirs "+string(rune('0'+exchanges)))
				}
				return exchange(a, b)
			})
			content, _ := os.ReadFile(path)
			if !errors.Is(err, tt.err) || string(content) != tt.want {
				t.Errorf("it holds %q, %v; want %q, %v", content, err, tt.want, tt.err)
			}
		})
	}
}

func TestWhereFilesCannotBeExchangedTheyAreRenamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.json")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	must(t, os.WriteFile(path+".edit", []byte("edited"), 0o600))
	old, err := stateOfFile(path)
	must(t, err)
	cannot := func(string, string) error { return errors.ErrUnsupported }
	must(t, putInPlace(path+".edit", path, old, cannot))
	if content, _ := os.ReadFile(path); string(content) != "edited" {
		t.Errorf("it holds %q", content)
	}
}

func TestCopiesOfProcessesThatWereKilledAreRemoved(t *testing.T) {
	s := fileSource(t, "links.json", "{}")
	leftover, other := ".links.json.edit-123456", ".links.json.edit-mine"
	for _, name := range []string{leftover, other} {
		must(t, os.WriteFile(filepath.Join(filepath.Dir(s.path), name), nil, 0o600))
	}
	s.removeLeftovers(t.Context())
	var left []string
	entries, err := os.ReadDir(filepath.Dir(s.path))
	must(t, err)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if got := strings.Join(left, " "); got != other+" links.json" {
		t.Errorf("there are %s", got)
	}
}

func TestAnEditLeavesNothingBesideTheFile(t *testing.T) {
	for name, change := range map[string]rulefile.Change{
		"a good one": {Key: "a", Rule: &resolver.Rule{Key: "a", Value: "https://b.example"}},
		"a bad one":  {Key: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fileSource(t, "links.json", `{"a": "https://a.example"}`)
			version, err := s.Read(t.Context(), ignoreRule)
			must(t, err)
			_, err = s.Edit(t.Context(), version, editOf(change))
			if (err == nil) != (name == "a good one") {
				t.Error(err)
			}
			entries, err := os.ReadDir(filepath.Dir(s.path))
			if err != nil || len(entries) != 1 {
				t.Errorf("there are %v, %v", entries, err)
			}
		})
	}
}

// A file system gives the number of a removed file to the next one that is made.
func TestANewFileWithTheNumberOfTheOldOneIsReadAtOnce(t *testing.T) {
	s := fileSource(t, "links.csv", "a,https://old.example\n")
	_, err := s.Read(t.Context(), ignoreRule)
	must(t, err)
	old := *s.stood.Load()
	replaceFile(t, s.path, "a,https://between.example\n")
	for range 1000 {
		replaceFile(t, s.path, "a,https://new.example\n")
		now, err := os.Stat(s.path)
		must(t, err)
		if os.SameFile(now, old.FileInfo) {
			break
		}
	}
	if _, err := s.Read(t.Context(), ignoreRule); err != nil {
		t.Error(err)
	}
}

func TestAFileThatIsMissingIsNamedByItsWholePath(t *testing.T) {
	dir := t.TempDir()
	s := &File{Path: "links.json", RelativeTo: dir}
	must(t, s.Provision(caddy.Context{}))
	_, err := s.Read(t.Context(), ignoreRule)
	where := filepath.Join(dir, "links.json")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), where) {
		t.Errorf("got %v", err)
	}
	if s.String() != "links.json" {
		t.Errorf("it is called %s", s)
	}
}
