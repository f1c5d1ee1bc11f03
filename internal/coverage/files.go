package coverage

import (
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// indexNames are the files that stand for their directory: those of Caddy's file server, and one
// of older sites.
var indexNames = [...]string{"index.html", "index.txt", "index.htm"}

// files are the files of the site.
type files struct{ fs.FS }

// has reports whether a path of a URL leads to a file: as it is, as an index, or without .html.
func (f files) has(escaped string) bool {
	decoded, err := url.PathUnescape(escaped)
	if err != nil {
		return false
	}
	name := strings.Trim(decoded, "/")
	if name == "" {
		name = "."
	}
	if !fs.ValidPath(name) { // also what would climb once it is decoded
		return false
	}
	info, err := fs.Stat(f, name)
	if err == nil && info.IsDir() && f.hasIndex(name) {
		return true
	}
	isDir := strings.HasSuffix(decoded, "/")
	return !isDir && (err == nil && !info.IsDir() || f.isFile(name+".html"))
}

func (f files) hasIndex(dir string) bool {
	for _, index := range indexNames {
		if f.isFile(path.Join(dir, index)) {
			return true
		}
	}
	return false
}

func (f files) isFile(name string) bool {
	info, err := fs.Stat(f, name)
	return err == nil && !info.IsDir()
}

// each calls do with the path of each file: an index has that of its directory. It ends when do
// returns false. What cannot be read is passed over.
func (f files) each(do func(path string) bool) {
	_ = fs.WalkDir(f, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		dir, file := path.Split(name)
		for _, index := range indexNames {
			if file == index {
				name = dir
			}
		}
		if !do("/" + name) {
			return fs.SkipAll
		}
		return nil
	})
}
