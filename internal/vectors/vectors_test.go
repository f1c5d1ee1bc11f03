package vectors

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestATableIsReadAsItWasWritten(t *testing.T) {
	table := Table{Suite: "s", Revision: "r", Licence: "l", Columns: []string{"a", "b", "c"}}
	table.Add("é<\u202e\U000E0001\n", nil, map[string]string{"x": "y"})
	table.Add(7)
	file := filepath.Join(t.TempDir(), "table.json")
	if err := table.Write(file); err != nil {
		t.Fatal(err)
	}
	rows, err := Read(file)
	if err != nil || !reflect.DeepEqual(rows, table.Rows) {
		t.Fatalf("got %s, %v", rows, err)
	}
	content, _ := os.ReadFile(file)
	if !strings.Contains(string(content), `["é<\u202e\udb40\udc01\n",null,{"x":"y"}],`+"\n[7]\n") {
		t.Errorf("it is written as %s", content)
	}

	text, other := "", "as before"
	var object map[string]string
	if err := rows[0].Scan(&text, &other, &object); err != nil || object["x"] != "y" ||
		text != "é<\u202e\U000E0001\n" || other != "as before" {
		t.Errorf("got %q %q %v, %v", text, other, object, err)
	}
	if err := rows[0].Scan(&text); err == nil {
		t.Error("cells are passed over")
	}
	if err := rows[1].Scan(&text); err == nil {
		t.Error("a number is taken for a text")
	}
}

func TestATableSaysWhereItIsFrom(t *testing.T) {
	const from = `{"suite": "s", "revision": "r", "licence": "l", `
	for name, content := range map[string]string{
		"no licence":     `{"suite": "s", "revision": "r", "columns": ["a"], "rows": [[1]]}`,
		"no cells":       from + `"columns": ["a"], "rows": [[]]}`,
		"too many cells": from + `"columns": [], "rows": [[1]]}`,
		"no JSON":        `{`,
	} {
		file := filepath.Join(t.TempDir(), "table.json")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, err := Read(file); err == nil {
			t.Errorf("%s: got %s", name, rows)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a file that is not there is read")
	}
}
