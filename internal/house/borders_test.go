package house

import (
	"go/ast"
	"go/parser"
	"testing"
)

// borders are the packages that callers begin with.
var borders = []string{"train", "parallel", "bn", "fleet", "predict"}

// leastComments is the minimum share of comment lines in the exported declarations of a package, in
// percent. It is low enough to permit short sentences, because a shorter comment with the same
// content is better.
const leastComments = 25

// TestBordersAreExplained counts the lines of package comments and of exported
// declarations, including the bodies of functions: callers look for shapes, units, errors and
// defaults there. A line with code and a comment counts as
// both. go test -v prints the shares.
func TestBordersAreExplained(t *testing.T) {
	for _, folder := range borders {
		comments, all := explained(t, folder)
		share := 100 * comments / all
		t.Logf("%s: %d of %d lines, %d %%", folder, comments, all, share)
		if share < leastComments {
			t.Errorf("%s: %d %% of the lines that it exports are comments, want %d %%", folder, share, leastComments)
		}
	}
}

// explained returns the number of lines of a package's exported declarations, and how many
// of them have comments.
func explained(t *testing.T, folder string) (comments, all int) {
	set, files := sources(t, folder, parser.ParseComments)
	for _, f := range files {
		lines, commented := map[int]bool{}, map[int]bool{}
		span := func(n ast.Node, into map[int]bool) {
			for i := set.Position(n.Pos()).Line; i <= set.Position(n.End()).Line; i++ {
				into[i] = true
			}
		}
		if f.Doc != nil {
			span(f.Doc, lines)
		}
		for _, d := range f.Decls {
			if shown, doc := exportedDecl(d); shown {
				span(d, lines)
				if doc != nil {
					span(doc, lines)
				}
			}
		}
		for _, c := range f.Comments {
			span(c, commented)
		}
		for i := range lines {
			all++
			if commented[i] {
				comments++
			}
		}
	}
	return comments, all
}

// exportedDecl reports whether a declaration has exported names, and returns its comment.
func exportedDecl(d ast.Decl) (shown bool, doc *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))), d.Doc
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				shown = shown || s.Name.IsExported()
			case *ast.ValueSpec:
				for _, n := range s.Names {
					shown = shown || n.IsExported()
				}
			}
		}
		return shown, d.Doc
	}
	return false, nil
}
