package resolver

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFilesBuildOnThoseInFrontOfThemInTheOrderOfDoc(t *testing.T) {
	fset := token.NewFileSet()
	doc, err := parser.ParseFile(fset, "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	order := map[string]int{"doc.go": 0}
	for line := range strings.Lines(doc.Doc.Text()) {
		_, names, _ := strings.Cut(line, ": ")
		if !strings.HasPrefix(line, "\t") {
			continue
		}
		for _, name := range strings.Fields(names) {
			order[name+".go"] = len(order)
		}
	}
	var upward []string
	pairs := usesBetweenFiles(t, fset, order)
	for pair, names := range pairs {
		if order[pair[0]] < order[pair[1]] {
			uses := slices.Sorted(maps.Keys(names))
			upward = append(upward, pair[0]+" uses "+pair[1]+": "+strings.Join(uses, " "))
		}
	}
	slices.Sort(upward)
	t.Logf("%d of %d pairs run upward:\n%s", len(upward), len(pairs), strings.Join(upward, "\n"))
	if len(upward) > len(pairs)/5 {
		t.Error("more than a fifth of the pairs of files run upward; move what they use")
	}
}

// usesBetweenFiles returns what one file uses of another one: its functions, methods, types and
// constants.
func usesBetweenFiles(
	t *testing.T, fset *token.FileSet, order map[string]int,
) map[[2]string]map[string]bool {
	var files []*ast.File
	names, _ := filepath.Glob("*.go")
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if _, isTold := order[name]; err != nil || !isTold {
			t.Errorf("%s: %v; doc.go says where to read each file", name, err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := config.Check("resolver", fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[[2]string]map[string]bool{}
	for use, object := range info.Uses {
		function, is := object.(*types.Func)
		isMethod := is && function.Signature().Recv() != nil
		if object.Pkg() != pkg || object.Parent() != pkg.Scope() && !isMethod {
			continue
		}
		pair := [2]string{fset.Position(use.Pos()).Filename, fset.Position(object.Pos()).Filename}
		if pair[0] == pair[1] {
			continue
		}
		if pairs[pair] == nil {
			pairs[pair] = map[string]bool{}
		}
		pairs[pair][object.Name()] = true
	}
	return pairs
}
