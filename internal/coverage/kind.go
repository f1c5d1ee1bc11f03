package coverage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// kind is the format of a file.
type kind uint8

const (
	listFile    kind = iota // a URL or a path per line
	jsonFile                // Caddy's access log, or objects with a URL
	commonFile              // a log in the common or combined format
	sitemapFile             // a sitemap, or an index of sitemaps
	tableFile               // a table with a column of URLs
)

// mostHeadLines is how many lines are examined to find the kind of a file. The first ones may lack
// their beginning.
const mostHeadLines = 50

// kindOf returns the kind of a file by its beginning, or its whole content, and the columns of a
// table.
func kindOf(head []byte, isAll bool) (kind, *table, error) {
	lines, rest := firstLines(head, isAll)
	if len(lines) == 0 {
		return listFile, nil, nil
	}
	if bytes.TrimSpace(lines[0])[0] == '<' {
		return sitemapFile, nil, nil
	}
	if t, ok := newTable(lines); ok {
		return tableFile, t, nil
	}
	for i, line := range lines {
		isCut := !isAll && i == 0 && len(rest) == 0
		if k, ok := kindOfLine(bytes.TrimSpace(line), isCut); ok {
			return k, nil, nil
		}
	}
	return 0, nil, noneOf(lines[0])
}

// firstLines returns the first lines that are neither blank nor comments. It includes a line that
// may be cut off only if there is no other.
func firstLines(head []byte, isAll bool) (lines [][]byte, rest []byte) {
	for rest = head; len(lines) < mostHeadLines && len(rest) > 0; {
		line, behind, ended := bytes.Cut(rest, []byte("\n"))
		rest = behind
		if line = bytes.TrimRight(line, "\r"); isText(line) && (ended || isAll || len(lines) == 0) {
			lines = append(lines, line)
		}
	}
	return lines, rest
}

// isText reports whether a line is neither blank nor a comment.
func isText(line []byte) bool { return len(bytes.TrimSpace(line)) > 0 && line[0] != '#' }

// kindOfLine returns the kind of a file by one of its lines, which may be cut off.
func kindOfLine(line []byte, isCut bool) (k kind, ok bool) {
	if object, _ := objectIn(line); object != nil && (isCut || json.Valid(object)) {
		return jsonFile, true
	}
	if _, ok := parseCommon(line); ok {
		return commonFile, true
	}
	return listFile, isURL(line) && bytes.IndexByte(line, ' ') < 0
}

// isURL reports whether a text looks like a URL or a path.
func isURL(text []byte) bool {
	_, is := cutScheme(text)
	return is || len(text) > 0 && text[0] == '/'
}

// noneOf returns the error of a file with an unknown kind, which begins with a line.
func noneOf(line []byte) error {
	if line[0] == '{' || line[0] == '[' {
		return errors.New("it is JSON, but not one object per line; convert it, such as with " +
			"jq -c '.[]'")
	}
	return fmt.Errorf("unknown format; give an access log of Caddy, or in the common or "+
		"combined format; a sitemap; a table with a column of URLs; lines of JSON with url, uri or "+
		"path; or a list of URLs, or of paths that begin with /; it begins with %s",
		excerpt(line))
}
