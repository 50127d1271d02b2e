package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// stateful are packages with structs that have the state of a run, of a device or of a
// program.
var stateful = []string{"train", "parallel", "parallel/internal/placement", "parallel/pipeline", "parallel/step",
	"parallel/weightsync",
	"predict", "plugins/cpu/internal/cpu", "plugins/cpu/internal/plan",
	"plugins/cpu/internal/run", "plugins/cpu/internal/arena", "plugins/cpu/internal/operations",
	"plugins/cpu/internal/convolution", "plugins/cpu/internal/fusion", "plugins/cpu/internal/schedule", "plugins/cpu/internal/workers",
	"plugins/cpu/internal/machine"}

// State must not be shared by embedding. If a struct embeds a pointer, all methods of the struct can
// write the target. If the struct is exported, all callers can write it, too.
func TestStateIsNotEmbedded(t *testing.T) {
	for _, dir := range stateful {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, embedder := range embedders(f) {
				t.Errorf("%s: struct %s embeds a pointer: give the field a name", name, embedder)
			}
		}
	}
}

// embedders returns the structs of a file that embed pointers.
func embedders(f *ast.File) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				if _, pointer := field.Type.(*ast.StarExpr); pointer && len(field.Names) == 0 {
					names = append(names, spec.Name.Name)
				}
			}
		}
		return true
	})
	return names
}
