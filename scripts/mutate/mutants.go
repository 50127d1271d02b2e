package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change: its place by file and line, its place by function, and its description.
type mutant struct{ at, in, what string }

// key returns a name for a mutant that does not change when lines are added elsewhere in the file.
func (m mutant) key() string { return m.position() + ": " + m.what }

// position returns the file and the function that a mutant is in.
func (m mutant) position() string {
	file, _, _ := strings.Cut(m.at, ":")
	return file + " " + m.in
}

// choice is the source of a file that is added to the mutated package. It selects a mutant, and records the
// mutants that tests reach.
const choice = `package %s

import (
	"os"
	"strconv"
)

var mutantMade = func() int {
	behind, _ := strconv.Atoi(os.Getenv(%q)) // the number plus 1; without the variable it is 0
	return behind - 1
}()

var mutantsNoted, _ = os.OpenFile(os.Getenv(%q), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)

var mutantsMet [%d]bool

// mutantChosen returns the mutant that is made, where those from first to behind - 1 could be.
func mutantChosen(first, behind int) int {
	for i := first; mutantsNoted != nil && i < behind; i++ {
		if !mutantsMet[i] {
			mutantsMet[i] = true
			mutantsNoted.WriteString(strconv.Itoa(i) + "\n")
		}
	}
	return mutantMade
}
`

// mutated is a package with files that contain all mutants.
type mutated struct {
	dir     string
	files   map[string][]byte // source of the files, by absolute name
	mutants []mutant
}

// edit is a text to be inserted into a file. Texts at the same position are sorted by rank.
type edit struct {
	offset int
	rank   int
	text   string
}

// writer adds the mutants of one file to its source.
type writer struct {
	p        *mutated
	set      *token.FileSet
	info     *types.Info
	pkg      *types.Package
	source   []byte
	edits    []edit
	function string // name of the function that is being visited
	file     *ast.File
}

// mutate returns the package in a folder with all of its mutants.
func mutate(dir string) (*mutated, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	listed, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	set, p := token.NewFileSet(), &mutated{dir: dir, files: map[string][]byte{}}
	var files []*ast.File
	for _, name := range listed.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(set, "source", nil)}).Check(dir, set, files, info)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		name := filepath.Join(dir, listed.GoFiles[i])
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		w := &writer{p: p, set: set, info: info, pkg: pkg, source: source, file: f}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				w.function = fn.Name.Name
				ast.Inspect(fn.Body, w.visit)
			}
		}
		p.files[name] = w.result()
	}
	p.files[filepath.Join(dir, "mutant_chosen.go")] = fmt.Appendf(nil, choice, pkg.Name(), chosen, reached,
		len(p.mutants))
	return p, nil
}

func (w *writer) offset(p token.Pos) int { return w.set.Position(p).Offset }

func (w *writer) text(n ast.Node) string {
	return string(w.source[w.offset(n.Pos()):w.offset(n.End())])
}

// add records a mutant and returns its number.
func (w *writer) add(n ast.Node, text string) int {
	at := w.set.Position(n.Pos())
	w.p.mutants = append(w.p.mutants,
		mutant{fmt.Sprintf("%s/%s:%d", filepath.Base(w.p.dir), filepath.Base(at.Filename), at.Line), w.function,
			text})
	return len(w.p.mutants) - 1
}

// around inserts text before and after a node. Text around an inner node is placed inside of the text around
// an outer one.
func (w *writer) around(n ast.Node, prefix, suffix string) {
	from, to := w.offset(n.Pos()), w.offset(n.End())
	w.edits = append(w.edits, edit{from, -to, prefix}, edit{to, -from - 1<<30, suffix})
}

// visit makes the mutants that change a node.
func (w *writer) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.BlockStmt:
		w.leaveOut(n.List)
	case *ast.CaseClause:
		w.leaveOut(n.Body)
	}
	return true
}

// others lists for each operator the operators that replace it in mutants.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// binary makes the mutants that replace the operator of an expression.
func (w *writer) binary(n *ast.BinaryExpr) {
	tv, zero := w.info.Types[n], w.info.Types[n.Y].Value
	if len(others[n.Op]) == 0 || tv.Value != nil || tv.Type == nil || strings.Contains(w.text(n), "func(") ||
		n.Op == token.MUL && zero != nil && zero.ExactString() == "0" {
		return
	}
	basic, _ := tv.Type.Underlying().(*types.Basic)
	if n.Op == token.ADD && basic != nil && basic.Info()&types.IsString != 0 {
		return
	}
	typ := types.TypeString(types.Default(tv.Type), w.named)
	first, cases := len(w.p.mutants), ""
	for _, op := range others[n.Op] {
		id := w.add(n, fmt.Sprintf("%s with %s", strings.Join(strings.Fields(w.text(n)), " "), op))
		cases += fmt.Sprintf(" case %d: return %s %s (%s);", id, w.operand(n.X), op, w.text(n.Y))
	}
	if n.Op == token.NEQ && w.text(n.Y) == "nil" && strings.HasPrefix(w.text(n.X), "err") {
		cases += fmt.Sprintf(" case %d: return false;", w.add(n, w.text(n)+" never met"))
	}
	w.around(n, fmt.Sprintf("func() %s { switch mutantChosen(%d, %d) {%s }; return (", typ, first,
		len(w.p.mutants), cases), ") }()")
}

// named returns the name by which the file can refer to a package, and makes the file import it. It returns
// "" for the package of the file.
func (w *writer) named(p *types.Package) string {
	if p == w.pkg {
		return ""
	}
	path := strconv.Quote(p.Path())
	if !slices.ContainsFunc(w.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == path }) {
		w.edits = append(w.edits, edit{w.offset(w.file.Name.End()), 0, "; import " + path})
		w.file.Imports = append(w.file.Imports, &ast.ImportSpec{Path: &ast.BasicLit{Value: path}})
	}
	return p.Name()
}

// operand returns the source of an operand, in brackets.
func (w *writer) operand(x ast.Expr) string { return "(" + w.text(x) + ")" }

// leaveOut makes the mutants that leave out an assignment or a call.
func (w *writer) leaveOut(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.ExprStmt:
			if strings.HasPrefix(w.text(s), "panic(") {
				continue
			}
		default:
			continue
		}
		line, _, _ := strings.Cut(w.text(s), "\n")
		id := w.add(s, "without "+line)
		w.around(s, fmt.Sprintf("if mutantChosen(%d, %d) != %d { ", id, id+1, id), " }")
	}
}

// result returns the source of the file with all mutants.
func (w *writer) result() []byte {
	slices.SortStableFunc(w.edits, func(a, b edit) int {
		if a.offset != b.offset {
			return a.offset - b.offset
		}
		return a.rank - b.rank
	})
	var out bytes.Buffer
	last := 0
	for _, e := range w.edits {
		out.Write(w.source[last:e.offset])
		out.WriteString(e.text)
		last = e.offset
	}
	out.Write(w.source[last:])
	return out.Bytes()
}
