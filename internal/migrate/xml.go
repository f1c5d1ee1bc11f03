package migrate

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// DecodeXML returns a list of an object with the root element of a text. The members of an element
// are its attributes and its elements, in order. An element with neither is a text.
//
//	<a b="1"><c> x </c><c/></a>    [{"a": {"b": "1", "c": "x", "c": ""}}]
func (t *Table) DecodeXML(text string) (documents Node, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8
	open := []*element{{at: t.Position(1, 1)}}
	for {
		line, column := d.InputPos()
		at := t.Position(line, column)
		token, err := d.Token()
		last := open[len(open)-1]
		switch {
		case err == io.EOF:
			document := last.node()
			return Node{Kind: '[', inside: func(yield func(key, value Node) bool) {
				yield(Node{}, document)
			}}, nil
		case err != nil:
			return documents, xmlError(at, err)
		case len(open) > deepestXML:
			return documents, ErrorAt(at, "more than 100 elements are open here; remove everything but "+
				"the redirects")
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, newElement(token, at))
		case xml.EndElement:
			open = open[:len(open)-1]
			open[len(open)-1].add(token.Name.Local, last.node())
		case xml.CharData:
			last.addText(token)
		}
	}
}

// deepestXML is the maximum depth of elements.
const deepestXML = 100

// element is an element of XML that is being read.
type element struct {
	at      resolver.Position
	members [][2]Node // keys and values
	text    strings.Builder
}

func newElement(token xml.StartElement, at resolver.Position) *element {
	e := &element{at: at}
	for _, a := range token.Attr {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			e.add(a.Name.Local, Node{At: at, Kind: '"', Text: a.Value})
		}
	}
	return e
}

func (e *element) add(name string, value Node) {
	e.members = append(e.members, [2]Node{{At: value.At, Kind: '"', Text: name}, value})
}

// addText adds to the text of an element that has no members yet.
func (e *element) addText(text []byte) {
	if e.members == nil {
		e.text.Write(text)
	}
}

// node returns the element as a value.
func (e *element) node() Node {
	if e.members == nil {
		return Node{At: e.at, Kind: '"', Text: strings.TrimSpace(e.text.String())}
	}
	return Node{At: e.at, Kind: '{', inside: func(yield func(key, value Node) bool) {
		for _, member := range e.members {
			if !yield(member[0], member[1]) {
				return
			}
		}
	}}
}

// xmlError returns the error for a text that is not well-formed.
func xmlError(at resolver.Position, err error) error {
	message := err.Error()
	if wrong, ok := errors.AsType[*xml.SyntaxError](err); ok {
		at.Line, at.Column, message = wrong.Line, 1, wrong.Msg
	}
	return ErrorAt(at, "this is not valid XML: "+message+"; write < and & as &lt; and &amp; in values")
}
