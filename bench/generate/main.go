// Command generate makes tables of test vectors from public test suites:
//
//	go run -C bench ./generate -suite wpt -revision 2026-07 PATH
//
// It runs in the folder bench. PATH is the folder or the file of the suite, relative to bench:
//
//	wpt          the folder url/resources of web-platform-tests
//	uritemplate  the folder of uri-templates/uritemplate-test
//	fedify       a file of the cases of Fedify's tests of URI templates
//	rfc3986      a file of cases of RFC 3986 and its implementations
//	golang       a JSON object of the redirects of golang.org
//	babel        the _redirects of babeljs.io
//
// Without a revision, the tables contain the date.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

// made is a generated table and its destination.
type made struct {
	file  string
	table vectors.Table
}

// suites holds a function for each suite that makes its tables.
var suites = map[string]func(path string) ([]made, error){
	"wpt":         ofWebPlatformTests,
	"uritemplate": ofURITemplates,
	"fedify":      ofFedify,
	"rfc3986":     ofRFC3986,
	"golang":      ofGolang,
	"babel":       ofBabel,
}

func main() {
	suite := flag.String("suite", "", "the suite that is read")
	revision := flag.String("revision", "", "its revision")
	flag.Parse()
	if suites[*suite] == nil || flag.NArg() != 1 {
		fmt.Fprintf(os.Stderr, "write -suite with one of %s, and its folder or file\n",
			strings.Join(sorted(suites), ", "))
		os.Exit(2)
	}
	if err := generateFromBench(*suite, flag.Arg(0), *revision); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generateFromBench writes tables into the module around bench.
func generateFromBench(suite, path, revision string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := os.Chdir(".."); err != nil {
		return err
	}
	return generate(suite, path, revision)
}

func generate(suite, path, revision string) error {
	if revision == "" {
		revision = "read on " + time.Now().Format(time.DateOnly)
	}
	all, err := suites[suite](path)
	if err != nil {
		return err
	}
	for _, m := range all {
		m.table.Revision = revision
		if err := m.table.Write(m.file); err != nil {
			return err
		}
		fmt.Printf("%s: %d rows\n", m.file, len(m.table.Rows))
	}
	return nil
}

// read decodes a JSON file.
func read[T any](file string) (content T, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &content)
	}
	return content, err
}

// sorted returns the names of an object's members in order.
func sorted[T any](object map[string]T) (names []string) {
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
