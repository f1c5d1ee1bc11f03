package formats

import (
	"path/filepath"
	"strings"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// nameOf returns the name of the format of another program that the name of a file implies.
func nameOf(path string) (name rulefile.Format, ok bool) {
	name, ok = map[string]rulefile.Format{
		"vercel.json": "array", "firebase.json": "array", "docs.json": "array", "mint.json": "array",
		"routes-manifest.json": "array", "netlify.toml": "netlify-toml", "book.toml": "mdbook",
		"mkdocs.yml": "mkdocs", "s3_website.yml": "s3", "web.config": "iis",
		"staticwebapp.config.json":         "azure",
		".openpublishing.redirection.json": "openpublishing",
	}[strings.ToLower(filepath.Base(path))]
	if ok {
		return name, true
	}
	name, ok = map[string]rulefile.Format{
		".htaccess": "htaccess", ".yaml": "yaml", ".yml": "yaml", ".map": "map", ".conf": "map",
		".rediraffe": "rediraffe",
	}[strings.ToLower(filepath.Ext(path))]
	return name, ok
}
