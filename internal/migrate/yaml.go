package migrate

import (
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DecodeYAML returns the documents of a text as a list. It omits empty documents after the first.
func (t *Table) DecodeYAML(text string) (documents Node, err error) {
	var all []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		document := new(yaml.Node)
		if err = decoder.Decode(document); err != nil {
			break
		}
		if len(all) == 0 || document.Content[0].Tag != "!!null" {
			all = append(all, document.Content[0])
		}
	}
	if err != io.EOF {
		return documents, t.yamlError(err, text)
	}
	return t.yamlNode(&yaml.Node{Kind: yaml.SequenceNode, Content: all}), nil
}

// yamlNode returns the node of a library value. An alias becomes the value it stands for.
func (t *Table) yamlNode(y *yaml.Node) Node {
	n := Node{At: t.Position(max(y.Line, 1), max(y.Column, 1)), Text: y.Value}
	if y.Kind == yaml.AliasNode {
		y = y.Alias
		n.Text = y.Value
	}
	switch {
	case y.Kind == yaml.MappingNode:
		n.Kind = '{'
	case y.Kind == yaml.SequenceNode:
		n.Kind = '['
	case y.Tag == "!!null":
		n.Kind, n.Text = 'w', "null"
	case y.Tag == "!!str":
		n.Kind = '"'
	default:
		n.Kind = 'w'
	}
	if len(y.Content) == 0 {
		return n
	}
	n.inside = func(yield func(key, value Node) bool) {
		for i := 0; i < len(y.Content); i++ {
			var key Node
			if n.Kind == '{' {
				key = t.yamlNode(y.Content[i])
				i++
			}
			if !yield(key, t.yamlNode(y.Content[i])) {
				return
			}
		}
	}
	return n
}

// yamlMistake matches the start of a library error. The library omits the line for the first line,
// for aliases and for invalid characters.
var yamlMistake = regexp.MustCompile(`^yaml: (?:line (\d+): |(?:unknown anchor '([^']*)))?`)

// yamlError returns the error for a text that is not valid YAML.
func (t *Table) yamlError(err error, text string) error {
	line, what := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	where := yamlMistake.FindStringSubmatch(err.Error())
	switch at := invalidInYAML.FindStringIndex(text); {
	case where != nil && where[1] != "":
		line, _ = strconv.Atoi(where[1])
		what = strings.TrimPrefix(err.Error(), where[0])
	case where != nil && where[2] != "":
		before, _, _ := strings.Cut(text, "*"+where[2])
		line = strings.Count(before, "\n") + 1
	case at != nil:
		line = strings.Count(text[:at[0]], "\n") + 1
	}
	return ErrorAt(t.Position(max(line, 1), 1), "this is not valid YAML: "+what+"; write each entry "+
		"as a path, \": \" and a destination, in quotation marks if needed")
}

// invalidInYAML matches characters that YAML does not allow, and what is not UTF-8.
var invalidInYAML = regexp.MustCompile(
	"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\u0084\u0086-\u009F\uFFFD-\uFFFF]")
