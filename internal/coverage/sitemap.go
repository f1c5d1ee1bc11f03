package coverage

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

const (
	// sitemapSpace is the namespace of sitemaps. Others have elements of the same names.
	sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9"
	// mostDepth is how deep elements may nest. A sitemap needs three levels.
	mostDepth = 64
)

// errLongToken is the error of a tag or a text in XML that is too long.
var errLongToken = fmt.Errorf("a tag or a text has more than %d bytes", longestLine)

var errNotUTF8 = errors.New("only UTF-8 is supported; save it as UTF-8")

// sitemap reads a sitemap, or an index of sitemaps.
type sitemap struct {
	file     *file
	in       boundedReader
	decoder  *xml.Decoder
	path     []string // of the elements around
	hasRoot  bool
	loc      []byte
	sitemaps int // in an index
}

// readSitemap counts the URLs of a sitemap. It counts the sitemaps in an index, but does not read
// them.
func (f *file) readSitemap() error {
	s := &sitemap{file: f, in: boundedReader{r: f.in}}
	s.decoder = xml.NewDecoder(&s.in)
	s.decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errNotUTF8 }
	err := s.read()
	if s.sitemaps > 0 {
		f.counts.Notes = append(f.counts.Notes,
			fmt.Sprintf("%s: it is an index of %d sitemaps, which are not "+
				"fetched; give their files, too", f.name, s.sitemaps))
	}
	return err
}

func (s *sitemap) read() error {
	for {
		s.in.room = longestLine
		token, err := s.decoder.Token()
		if err == io.EOF && s.hasRoot {
			return nil
		}
		if err != nil {
			return s.breakOff(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := s.begin(token.Name); err != nil {
				return err
			}
		case xml.CharData:
			if s.isIn("url", "loc") && len(s.loc)+len(token) <= longestLine {
				s.loc = append(s.loc, token...)
			}
		case xml.EndElement:
			s.end()
		}
	}
}

// breakOff handles an error in XML. The URLs before it count.
func (s *sitemap) breakOff(err error) error {
	switch {
	case errors.Is(err, errNotUTF8):
		return errNotUTF8
	case !s.hasRoot && s.in.err != nil && s.in.err != errLongToken:
		s.file.cutShort = s.in.err
		return nil
	case !s.hasRoot && err == io.EOF:
		return errors.New("it is XML without a root element")
	case !s.hasRoot:
		return fmt.Errorf("it begins like XML, but is not a sitemap: %w", err)
	}
	line, _ := s.decoder.InputPos()
	s.file.line = line - 1
	if s.in.err != nil && s.in.err != errLongToken {
		s.file.cutShort = s.in.err
		return nil
	}
	s.file.note(line, fmt.Errorf("the sitemap cannot be read from here on: %w", err))
	return nil
}

// begin begins an element.
func (s *sitemap) begin(name xml.Name) error {
	local := name.Local
	if name.Space != "" && name.Space != sitemapSpace {
		local = "" // image:loc and the like
	}
	if len(s.path) == 0 && local != "urlset" && local != "sitemapindex" {
		return fmt.Errorf("it is XML, but not a sitemap: its root is %q in the namespace %q",
			name.Local, name.Space)
	}
	if len(s.path) == mostDepth {
		return errors.New("its elements nest more than 64 deep; sitemaps need 3")
	}
	s.path, s.loc, s.hasRoot = append(s.path, local), s.loc[:0], true
	return nil
}

// isIn reports whether the innermost elements have these names.
func (s *sitemap) isIn(outer, inner string) bool {
	n := len(s.path)
	return n == 3 && s.path[1] == outer && s.path[2] == inner
}

// end ends the innermost element.
func (s *sitemap) end() {
	switch {
	case s.isIn("sitemap", "loc"):
		s.sitemaps++
		s.file.hasRead = true
	case s.isIn("url", "loc"):
		s.file.countLine()
		line, _ := s.decoder.InputPos()
		s.file.note(line, s.file.counts.countURL(request{target: bytes.TrimSpace(s.loc), n: 1}))
	}
	s.path = s.path[:len(s.path)-1]
}

// boundedReader reads at most room bytes until room is set again, so that one token cannot fill all
// memory.
type boundedReader struct {
	r    io.Reader
	room int
	err  error // never io.EOF
}

func (b *boundedReader) Read(p []byte) (n int, err error) {
	if b.room <= 0 {
		b.err = errLongToken
		return 0, b.err
	}
	n, err = b.r.Read(p)
	b.room -= n
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}
