package webroot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// write writes empty files, and returns their directory.
func write(t testing.TB, files ...string) string {
	t.Helper()
	dir, site := t.TempDir(), fstest.MapFS{}
	for _, file := range files {
		site[file] = new(fstest.MapFile)
	}
	if err := os.CopyFS(dir, site); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, dir string) *Root {
	t.Helper()
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestAPageIsFoundAsTryFilesFindsIt(t *testing.T) {
	root := open(t, write(t, "a", "b.html", "c/index.html", "d/index.txt", "e/f.pdf", "e.html",
		"grün ei.html", "50%.txt", "x/y/z", "index.html"))
	for urlPath, want := range map[string]string{
		"/": "index.html", "": "index.html", "/a": "a", "/a/": "", "a": "a",
		"/b": "b.html", "/b.html": "b.html", "/b/": "",
		"/c": "c/index.html", "/c/": "c/index.html", "/c/index.html": "c/index.html",
		"/d/": "d/index.txt", "/e": "e.html", "/e/": "", "/a%2F": "", "/c/index.html/": "",
		"/e/f.pdf": "e/f.pdf", "/e/f": "",
		"/gr%C3%BCn%20ei": "grün ei.html", "/50%25.txt": "50%.txt", "/50%.txt": "50%.txt",
		"/x": "", "/x/y": "", "/x/y/z": "x/y/z", "/x%2Fy/z": "x/y/z", "/A": "", "/nothing": "",
		"/x/../a": "a", "/../../a": "a", "/%2e%2e/%2e%2e/a": "a", "//a": "a",
		"/../../../../../../../../etc/passwd": "", "/a%00": "", "/a\x00": "", "/%": "", "/%4": "",
		"/" + strings.Repeat("a/", 100_000): "", "/a?b": "",
	} {
		if file, ok := root.Page(urlPath); file != want || ok != (want != "") {
			t.Errorf("the page of %.100q is %q, %t, not %q", urlPath, file, ok, want)
		}
	}
}

func TestFilesBelowAPathAreCounted(t *testing.T) {
	root := open(t, write(t, "docs/a", "docs/b/c", "docs-2/x", "docs.html", "z"))
	for urlPath, want := range map[string]string{
		"/docs": "2 docs/a", "/docs/": "2 docs/a", "/docs/b": "1 docs/b/c", "/": "5 docs-2/x",
		"/doc": "0 ", "/docs/a": "0 ", "/zz": "0 ", "/docs/../docs/b": "1 docs/b/c",
	} {
		n, first := root.Below(urlPath)
		if got := fmt.Sprint(n, " ", first); got != want {
			t.Errorf("below %s there are %s, not %s", urlPath, got, want)
		}
	}
	if n, first := open(t, t.TempDir()).Below("/"); n != 0 || first != "" {
		t.Errorf("below nothing there are %d, %q", n, first)
	}
}

func TestEachPathOfAFileLeadsToIt(t *testing.T) {
	files := []string{"a", "b.html", "c/index.html", "c/x.html", "d/index.txt", "index.html", ".html",
		"e/.html", "50%20.txt", "what?", "#1", `a\b`, "a b", "\t\n", "%2e%2e", "grün"}
	root := open(t, write(t, files...))
	for _, file := range files {
		for _, urlPath := range URLPaths(file) {
			if got, _ := root.Page(urlPath); got != file {
				t.Errorf("%q of %q leads to %q", urlPath, file, got)
			}
		}
	}
	if got := URLPaths("c/index.html"); !slices.Equal(got,
		[]string{"/c/index.html", "/c/", "/c", "/c/index"}) {
		t.Errorf("the paths of an index are %q", got)
	}
}

func TestLinksAreFollowedAndTheirLoopsEnd(t *testing.T) {
	outside := write(t, "page.html", "sub/x")
	dir := write(t, "a/real")
	for link, to := range map[string]string{
		"out": outside, "file.html": filepath.Join(outside, "page.html"), "nothing": "missing",
		"a/up": dir, "a/self": filepath.Join(dir, "a"), "to-itself": "to-itself",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	root := open(t, dir)
	want := []string{"a/real", "file.html", "out/page.html", "out/sub/x"}
	if got := slices.Collect(root.All()); !slices.Equal(got, want) {
		t.Errorf("the files are %q, not %q", got, want)
	}
	if unread := root.Unread(); len(unread) != 1 { // the link to itself
		t.Errorf("%q cannot be read", unread)
	}
}

func TestWhatIsNoDirectoryIsAnError(t *testing.T) {
	dir := write(t, "file")
	for path, want := range map[string]string{
		filepath.Join(dir, "file"): "is not a directory", filepath.Join(dir, "missing"): "no such file",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is an error %v", path, err)
		}
	}
}

func TestCaseIsThatOfTheFileSystem(t *testing.T) {
	root := &Root{files: []string{"Docs/B", "docs2", "docs/a", "INDEX.html"}}
	root.sort(true)
	if file, _ := root.Page("/dOCS/b"); file != "Docs/B" {
		t.Errorf("the page is %q", file)
	}
	if n, first := root.Below("/DOCS"); n != 2 || first != "docs/a" {
		t.Errorf("below there are %d, first %q", n, first)
	}
}

func FuzzPage(f *testing.F) {
	root := open(f, write(f, "a", "b.html", "c/index.html", "c/d/e"))
	for _, seed := range []string{"/a", "/../a", "/%2e%2e/c/", "/c%2fd", "%", "//", "/b%00.html"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, urlPath string) {
		file, ok := root.Page(urlPath)
		if ok && !slices.Contains(root.files, file) {
			t.Errorf("%q leads to %q", urlPath, file)
		}
		if n, first := root.Below(urlPath); n > len(root.files) || (n == 0) != (first == "") {
			t.Errorf("below %q there are %d, first %q", urlPath, n, first)
		}
	})
}

func BenchmarkPage(b *testing.B) {
	root := &Root{}
	for i := range 1_000_000 {
		root.files = append(root.files, fmt.Sprintf("docs/%03d/page-%06d.html", i%1000, i))
	}
	root.sort(false)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		root.Page("/docs/001/page-000001")
	}
}

func TestAPathIsThatOfAFileAsItIs(t *testing.T) {
	root := open(t, write(t, "a", "b.html", "c/index.html", "grün ei.html"))
	for urlPath, want := range map[string]bool{
		"/a": true, "/a/": false, "/b": false, "/b.html": true, "/c": false, "/c/": true,
		"/c/index.html": true, "/gr%C3%BCn%20ei.html": true, "/": true, "/d": false, "/../a": true,
	} {
		if got := root.Has(urlPath); got != want {
			t.Errorf("%s: %t", urlPath, got)
		}
	}
}
