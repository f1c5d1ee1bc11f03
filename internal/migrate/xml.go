package migrate

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// DecodeXML returns a list of an object with the root element of a text. The members of an element
// are its attributes and its elements, in order. An element with neither is a text.
//
//	<a b="1"><c> x </c><c/></a>    [{"a": {"b": "1", "c": "x", "c": ""}}]
func (t *Table) DecodeXML(text string) (documents Node, err error) {
	const deepest = 100
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8
	open := []*element{{at: t.Position(1, 1)}}
	for {
		at := t.Position(d.InputPos())
		token, err := d.Token()
		last := open[len(open)-1]
		switch token := token.(type) {
		case nil:
			if err != io.EOF || len(last.members) == 0 {
				return documents, ErrorAt(at, "this is not valid XML: "+err.Error()+"; close each "+
					"element, and write & and < in values as &amp; and &lt;")
			}
			return keep('[', t.Position(1, 1), [][2]Node{{{}, last.node()}}), nil
		case xml.StartElement:
			e := &element{at: at}
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					e.add(a.Name.Local, Node{At: at, Kind: '"', Text: a.Value})
				}
			}
			if open = append(open, e); len(open) > deepest {
				return documents, ErrorAt(at, "more than 100 elements are open here; remove everything "+
					"but the redirects")
			}
		case xml.EndElement:
			open = open[:len(open)-1]
			open[len(open)-1].add(token.Name.Local, last.node())
		case xml.CharData:
			if last.members == nil {
				last.text = append(last.text, token...)
			}
		}
	}
}

// element is an element of XML that is being read.
type element struct {
	at      resolver.Position
	members [][2]Node // keys and values
	text    []byte
}

func (e *element) add(name string, value Node) {
	e.members = append(e.members, [2]Node{{At: value.At, Kind: '"', Text: name}, value})
}

// node returns the element as a value.
func (e *element) node() Node {
	if e.members == nil {
		return Node{At: e.at, Kind: '"', Text: strings.TrimSpace(string(e.text))}
	}
	return keep('{', e.at, e.members)
}
