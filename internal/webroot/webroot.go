// Package webroot finds the files of a site by the paths of URLs. It reads a directory once, as
// Caddy's file_server does: it follows symbolic links. Of the module it imports weburl.
package webroot

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// maxEntries is how many files and directories a root may have. Links between directories can make
// endlessly many paths.
const maxEntries = 10_000_000

// Root is a list of the files below a directory when it was opened. It is safe for concurrent use.
type Root struct {
	dir string
	// files are paths below the directory, in the order of names. Names are the same paths, in
	// lower case if the file system ignores case.
	files, names []string
	folds        bool
	unread       []error
}

// Open lists the files of a directory. Unread returns the errors of directories below it.
func Open(dir string) (*Root, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	w := walk{root: &Root{dir: dir}}
	if err := w.directory("", []fs.FileInfo{info}); err != nil {
		return nil, err
	}
	w.root.sort(foldsCase(dir))
	return w.root, nil
}

// walk reads directories.
type walk struct {
	root    *Root
	entries int
}

// directory reads a directory and those below it. Its path is below, and above are the directories
// on the way, itself the last.
func (w *walk) directory(below string, above []fs.FileInfo) error {
	entries, err := os.ReadDir(filepath.Join(w.root.dir, filepath.FromSlash(below)))
	if err != nil && below == "" {
		return err
	}
	if err != nil {
		w.root.unread = append(w.root.unread, err)
	}
	if w.entries += len(entries); w.entries > maxEntries {
		return fmt.Errorf("%s has more than %d files and directories", w.root.dir, maxEntries)
	}
	for _, entry := range entries {
		if err := w.entry(path.Join(below, entry.Name()), entry, above); err != nil {
			return err
		}
	}
	return nil
}

// entry adds a file, or reads a directory unless it is a link to one of those above.
func (w *walk) entry(below string, entry fs.DirEntry, above []fs.FileInfo) error {
	if entry.Type().IsRegular() {
		w.root.files = append(w.root.files, below)
		return nil
	}
	if !entry.IsDir() && entry.Type()&fs.ModeSymlink == 0 {
		return nil
	}
	info, err := os.Stat(filepath.Join(w.root.dir, filepath.FromSlash(below)))
	switch {
	case errors.Is(err, fs.ErrNotExist): // a link to nothing
	case err != nil:
		w.root.unread = append(w.root.unread, err)
	case info.Mode().IsRegular():
		w.root.files = append(w.root.files, below)
	case info.IsDir() && !slices.ContainsFunc(above, func(other fs.FileInfo) bool {
		return os.SameFile(info, other)
	}):
		return w.directory(below, append(above, info))
	}
	return nil
}

// foldsCase reports whether the file system of a directory ignores case. It tries the directory's
// own name in the other case.
func foldsCase(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	name := filepath.Base(dir)
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	one, errOne := os.Stat(dir)
	two, errTwo := os.Stat(filepath.Join(filepath.Dir(dir), other))
	return name != other && errOne == nil && errTwo == nil && os.SameFile(one, two)
}

// sort sorts the files by name.
func (r *Root) sort(folds bool) {
	r.folds = folds
	slices.Sort(r.files)
	r.names = r.files
	if !folds {
		return
	}
	r.names = make([]string, len(r.files))
	for i, file := range r.files {
		r.names[i] = strings.ToLower(file)
	}
	sort.Sort((*byName)(r))
}

// byName sorts the files by their names.
type byName Root

func (r *byName) Len() int           { return len(r.files) }
func (r *byName) Less(i, j int) bool { return r.names[i] < r.names[j] }
func (r *byName) Swap(i, j int) {
	r.files[i], r.files[j] = r.files[j], r.files[i]
	r.names[i], r.names[j] = r.names[j], r.names[i]
}

// All returns all files, as paths below the directory.
func (r *Root) All() iter.Seq[string] { return slices.Values(r.files) }

// Unread returns the errors of directories that could not be read. Their files are missing.
func (r *Root) Unread() []error { return r.unread }

// indexes are the names of files that answer for their directory.
var indexes = [...]string{"index.html", "index.txt"}

// Page returns the file that answers for the path of a URL, as try_files finds it. That is the file
// itself, the file with .html, or the index of the directory. A path that ends with a slash can
// only have an index.
func (r *Root) Page(urlPath string) (file string, ok bool) {
	below, isDirectory := nameOf(urlPath)
	if !isDirectory {
		for _, name := range [...]string{below, below + ".html"} {
			if file, ok := r.file(name); ok {
				return file, true
			}
		}
	}
	for _, index := range indexes {
		if file, ok := r.file(path.Join(below, index)); ok {
			return file, true
		}
	}
	return "", false
}

// Has reports whether the path of a URL is that of a file, or with a slash at its end of a
// directory with files.
func (r *Root) Has(urlPath string) bool {
	name, isDirectory := nameOf(urlPath)
	if isDirectory {
		n, _ := r.Below(urlPath)
		return n > 0
	}
	_, ok := r.file(name)
	return ok
}

// Below returns the number of files below the path of a URL, and the first one.
func (r *Root) Below(urlPath string) (n int, first string) {
	below, _ := nameOf(urlPath)
	if below == "" {
		if len(r.files) == 0 {
			return 0, ""
		}
		return len(r.files), r.files[0]
	}
	if r.folds {
		below = strings.ToLower(below)
	}
	from, _ := slices.BinarySearch(r.names, below+"/")
	to, _ := slices.BinarySearch(r.names, below+"0") // "0" follows "/"
	if from == to {
		return 0, ""
	}
	return to - from, r.files[from]
}

// file returns the file with a name.
func (r *Root) file(name string) (file string, ok bool) {
	if r.folds {
		name = strings.ToLower(name)
	}
	i, ok := slices.BinarySearch(r.names, name)
	if !ok {
		return "", false
	}
	return r.files[i], true
}

// nameOf returns the path below a root that the path of a URL means, without "/" at either end, and
// whether it must be a directory. It never leads out of the root.
func nameOf(urlPath string) (name string, isDirectory bool) {
	decoded := "/" + decode(urlPath)
	name = strings.TrimPrefix(path.Clean(decoded), "/")
	return name, name == "" || strings.HasSuffix(decoded, "/")
}

// decode decodes percent-encoding. Malformed triplets stay as they are.
func decode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	decoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		octet, ok := weburl.Triplet(text, i)
		if !ok {
			decoded = append(decoded, text[i])
			continue
		}
		decoded = append(decoded, octet)
		i += 2
	}
	return string(decoded)
}

// URLPaths returns the paths of URLs by which [Root.Page] finds a file: its own first, then those
// without .html or the name of an index.
func URLPaths(file string) []string {
	paths := []string{"/" + encode(file)}
	if slices.Contains(indexes[:], path.Base(file)) {
		dir := strings.TrimSuffix(paths[0], path.Base(file))
		paths = append(paths, dir)
		if dir != "/" {
			paths = append(paths, strings.TrimSuffix(dir, "/"))
		}
	}
	if without, ok := strings.CutSuffix(paths[0], ".html"); ok && !strings.HasSuffix(without, "/") {
		paths = append(paths, without)
	}
	return paths
}

// encode percent-encodes the characters of a name that have another meaning in the path of a URL.
func encode(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7F || strings.IndexByte(`%?#\`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
