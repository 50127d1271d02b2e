package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLoopCountsInFloats: a loop that adds to a float64 until it passes a bound may never end: from
// 2^53 on x+1 is x. A loop must count in integers, and compute a float64 from each.
func TestNoLoopCountsInFloats(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "testdata" || len(name) > 1 && name[0] == '.' {
			return fs.SkipDir
		}
		set := token.NewFileSet()
		own := func(name string) bool { return !strings.HasSuffix(name, "_test.go") }
		for _, f := range parsed(t, set, path, 0, own) {
			for _, at := range floatLoops(f) {
				t.Errorf("%s: a loop counts in floats", set.Position(at))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFloatLoopsAreFound checks loops that the test above must find, and loops that it must accept.
func TestFloatLoopsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"for x := 0.5; x < b; x += step {}":                             1,
		"for k := math.Ceil(a / b); k*b <= c; k++ {}":                   1,
		"for x := float64(a); x < b; x += 2 {}":                         1,
		"low, high := math.Floor(a), b; for e := low; e < high; e++ {}": 1,
		"for x := a; x < b/0.5; x += step {}":                           1,
		"for x := a; x < b; x += 0.5 {}":                                1,
		"for i := 0; i < n; i += step {}":                               0,
		"for i := range n { x := float64(i) * 0.5; f(x) }":              0,
		"for i := 0; i < int(math.Ceil(a)); i++ {}":                     0,
		"for n := 3.0; term > sum*0.5; n += 2 {}":                       0, // the terms of a series end this loop
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc g() {\n"+text+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(floatLoops(f)); got != want {
			t.Errorf("%s: %d loops, want %d", text, got, want)
		}
	}
}

// floatLoops returns the loops that add to a float64 which their condition bounds.
func floatLoops(f *ast.File) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || loop.Cond == nil || loop.Post == nil {
			return true
		}
		counter, step := counterOf(loop.Post)
		if counter == nil || !mentions(loop.Cond, counter.Name) {
			return true
		}
		init, _ := loop.Init.(*ast.AssignStmt)
		if isFloat(loop.Cond) || step != nil && isFloat(step) || init != nil && isFloat(init.Rhs[0]) {
			at = append(at, loop.Pos())
		}
		return true
	})
	return at
}

// counterOf returns the variable that the post statement of a loop changes, and the step;
// nil means 1.
func counterOf(post ast.Stmt) (counter *ast.Ident, step ast.Expr) {
	switch p := post.(type) {
	case *ast.IncDecStmt:
		counter, _ = p.X.(*ast.Ident)
	case *ast.AssignStmt:
		if p.Tok == token.ADD_ASSIGN || p.Tok == token.SUB_ASSIGN {
			counter, _ = p.Lhs[0].(*ast.Ident)
			step = p.Rhs[0]
		}
	}
	return counter, step
}

func mentions(e ast.Expr, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// isFloat reports whether an expression is a float64, as far as its text shows.
func isFloat(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			found = found || n.Kind == token.FLOAT
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok {
				found = found || id.Name == "float64" || id.Name == "float32"
				return false // int(x) is not a float
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				x, ok := s.X.(*ast.Ident)
				found = found || ok && x.Name == "math"
			}
			return false
		case *ast.Ident:
			found = found || isFloatVariable(n)
		}
		return !found
	})
	return found
}

// isFloatVariable reports whether a local variable begins as a float64.
func isFloatVariable(id *ast.Ident) bool {
	if id.Obj == nil {
		return false
	}
	a, ok := id.Obj.Decl.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != len(a.Rhs) {
		return false
	}
	for i, l := range a.Lhs {
		if v, ok := l.(*ast.Ident); ok && v.Name == id.Name && !mentions(a.Rhs[i], id.Name) {
			return isFloat(a.Rhs[i])
		}
	}
	return false
}
