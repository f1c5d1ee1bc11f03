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
	at := t.Position(max(y.Line, 1), max(y.Column, 1))
	if y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	switch {
	case y.Kind == yaml.MappingNode:
		return collection('{', at, len(y.Content)/2, func(i int) (key, value Node) {
			return t.yamlNode(y.Content[2*i]), t.yamlNode(y.Content[2*i+1])
		})
	case y.Kind == yaml.SequenceNode:
		return collection('[', at, len(y.Content), func(i int) (_, value Node) {
			return Node{}, t.yamlNode(y.Content[i])
		})
	case y.Tag == "!!null":
		return Node{At: at, Kind: 'w', Text: "null"}
	case y.Tag == "!!str":
		return Node{At: at, Kind: '"', Text: y.Value}
	}
	return Node{At: at, Kind: 'w', Text: y.Value}
}

// yamlMistake matches the start of a library error. The library omits the line for the first line,
// for aliases and for invalid characters.
var yamlMistake = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// invalidInYAML matches characters that YAML does not allow, and what is not UTF-8.
var invalidInYAML = regexp.MustCompile(
	"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\u0084\u0086-\u009F\uFFFD-\uFFFF]")

// yamlError returns the error for a text that is not valid YAML.
func (t *Table) yamlError(err error, text string) error {
	at := t.Position(1, 1)
	if where := yamlMistake.FindStringSubmatch(err.Error()); where != nil && where[1] != "" {
		line, _ := strconv.Atoi(where[1])
		at.Line = max(line, 1)
	} else if found := invalidInYAML.FindStringIndex(text); found != nil {
		at.Line = placeIn(text[:found[0]], at).Line
	}
	return ErrorAt(at, "this is not valid YAML: "+yamlMistake.ReplaceAllString(err.Error(), "")+
		"; write each entry as a path, \": \" and a destination, in quotation marks if needed")
}
