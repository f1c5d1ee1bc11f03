package coverage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// kind is what a file holds.
type kind uint8

const (
	listFile    kind = iota // a URL or a path a line
	jsonFile                // Caddy's access log, or objects with a URL
	commonFile              // a log in the common or combined format
	sitemapFile             // a sitemap, or an index of sitemaps
	tableFile               // a table with a column of URLs
)

// mostHeadLines is how many lines are looked at to find out what a file is: the first ones may have
// lost their beginning.
const mostHeadLines = 50

// kindOf tells what a file is by its beginning, which may be all of it.
func kindOf(head []byte, isAll bool) (kind, error) {
	var lines [][]byte
	for len(lines) < mostHeadLines && len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		line, head = bytes.TrimSpace(line), rest
		isWhole := ended || isAll || len(lines) == 0
		if isWhole && len(line) > 0 && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return listFile, nil
	}
	if lines[0][0] == '<' {
		return sitemapFile, nil
	}
	if isTable(lines) {
		return tableFile, nil
	}
	for i, line := range lines {
		isCut := !isAll && i == 0 && len(head) == 0
		if k, ok := kindOfLine(line, isCut); ok {
			return k, nil
		}
	}
	return 0, noneOf(lines[0])
}

// kindOfLine tells what a file is by one of its lines, which may be cut off.
func kindOfLine(line []byte, isCut bool) (k kind, ok bool) {
	if object, _ := objectIn(line); object != nil && (isCut || json.Valid(object)) {
		return jsonFile, true
	}
	if _, ok := parseCommon(line); ok {
		return commonFile, true
	}
	return listFile, isURL(line) && bytes.IndexByte(line, ' ') < 0
}

// isURL reports whether a text is meant as a URL or a path.
func isURL(text []byte) bool {
	_, is := cutScheme(text)
	return is || len(text) > 0 && text[0] == '/'
}

// noneOf is the error of a file that begins with a line.
func noneOf(line []byte) error {
	if line[0] == '{' || line[0] == '[' {
		return errors.New("it is JSON, but has no object on each line; write one object a line, " +
			"such as jq -c '.[]' does")
	}
	return fmt.Errorf("it is none of what is read here: an access log of Caddy, or one in the "+
		"common or combined format; a sitemap; a table with a column of URLs; lines of JSON with "+
		"url, uri or path; or a list of URLs, or of paths that begin with /; it begins with %s",
		excerpt(line))
}
