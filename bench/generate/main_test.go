package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

func TestTablesAreMadeOfASuite(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := t.TempDir()
	for name, content := range map[string]string{
		"urltestdata.json": `["a comment",
			{"input": "http:x", "base": "http://h/", "href": "http://h/x", "protocol": "http:",
			"hostname": "h", "host": "h", "pathname": "/x"},
			{"input": "a:b", "href": "a:b", "protocol": "a:"},
			{"input": "http://", "failure": true}]`,
		"toascii.json":          `[{"input": "A", "output": "a"}]`,
		"IdnaTestV2.json":       `[{"input": "\u2260", "output": null}]`,
		"percent-encoding.json": `[{"input": "é", "output": {"utf-8": "%C3%A9", "big5": "?"}}]`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("weburl/testdata", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := generate("wpt", folder, "r"); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"wpt-urls.json": `["http:x","http://h/","http://h/x","","","h","","/x","",""]` +
			`["a:b",""]["http://",""]`,
		"wpt-domains.json":  `["A","a"]["≠",null]`,
		"wpt-encoding.json": `["é","%C3%A9"]`,
	} {
		rows, err := vectors.Read(filepath.Join("weburl/testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, row := range rows {
			cells := ""
			for _, cell := range row {
				cells += "," + string(cell)
			}
			got += "[" + cells[1:] + "]"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}
