package rulefile

import (
	"path/filepath"
	"strings"
)

// OtherFormatOf returns the format of another program that the name of a file tells, as convert
// calls it: with its name a file is converted, where somebody takes it for one of rules.
func OtherFormatOf(path string) (name Format, ok bool) {
	switch strings.ToLower(filepath.Base(path)) {
	case "vercel.json", "firebase.json", "docs.json", "mint.json", "routes-manifest.json":
		return "array", true
	case "netlify.toml":
		return "netlify-toml", true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".htaccess":
		return "htaccess", true
	case ".yaml", ".yml":
		return "yaml", true
	case ".map":
		return "map", true
	}
	return "", false
}
