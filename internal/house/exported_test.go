package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// These are the reasons for exported names that have no user outside of their package.
const (
	caught  = "callers find it with errors.Is or errors.As"
	figure  = "a figure of a report, which callers print"
	option  = "an option whose zero value fits bnctl's own commands"
	inBytes = "for callers whose file is in memory"
	devices = "for devices of others, and for the tables that tests hold them to"
	checked = "its own tests, which stand outside of the package, check it"
)

// unusedNames are the exported names that are not used outside of their package, with the
// reasons.
var unusedNames = map[string]string{
	"data.ErrSpec":      caught,
	"train.RecipeError": caught,

	"device/ref.Call.Owner": "kernels of a device need it",

	"bn.Layer.Cumulative":      figure,
	"data.Statistics.Smallest": figure,
	"serialize.Version":        figure,

	"TrainOptions.ValidationSource": option,
	"data.Options.CacheBytes":       option,
	"data.Plan.Prefetch":            option,
	"data.SkipAll":                  option,

	"formats/keras.ReadFrom": inBytes,
	"formats/torch.ReadFrom": inBytes,

	"device/class.Exp":     devices,
	"device/class.Expm1":   devices,
	"device/class.Log1p":   devices,
	"device/class.Sigmoid": devices,
	"device/class.Tanh":    devices,
	"device/class.Erf":     devices,

	"graph.Op.Decomposes":     devices,
	"device/devicetest.Judge": "JudgeSome with all cases, for authors of devices",

	"data.Transform.ApplyMask":    checked,
	"modelfile/doctor.Reestimate": "what Repair does, for callers who write no file",
}

// inherited are methods that the standard library calls.
var inherited = strings.Fields("Error String Unwrap Is Write Read Close Len Less Swap Format " +
	"MarshalJSON UnmarshalJSON MarshalText UnmarshalText")

// TestExportedNamesHaveUsers: an exported name is a promise. Each exported name of a
// package that others may import is used outside of that package, by our code, its tests,
// the examples or the programs of docs/library, or has a reason in unusedNames.
//
// Files are read, not type-checked. A method or field has a user if any method or field of its name is
// selected somewhere. A type has a user if an exported declaration names it, because callers can reach it
// without its name. A constant has a user if another constant of its list has one.
func TestExportedNamesHaveUsers(t *testing.T) {
	s := survey{packages: map[string]*exported{}, named: map[string]bool{},
		selected: map[string]map[string]bool{}}
	if err := fs.WalkDir(os.DirFS("."), ".", s.visit); err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for folder, p := range s.packages {
		for name, list := range p.names {
			if full := strings.TrimPrefix(folder+".", "..") + name; !s.hasUser(folder, name, list) {
				unused[full] = true
				if unusedNames[full] == "" {
					t.Errorf("%s has no user outside of its package: unexport it, or say in unusedNames why not", full)
				}
			}
		}
	}
	for name := range maps.Keys(unusedNames) {
		if !unused[name] {
			t.Errorf("%s has a user or is gone: take it out of unusedNames", name)
		}
	}
	if len(s.packages) < 30 {
		t.Errorf("%d packages were read", len(s.packages))
	}
}

// exported has the exported names of a package ("Type.Method" for a member of a type), each
// with the list of constants that it belongs to, and the names that exported declarations
// mention.
type exported struct {
	names     map[string][]string
	mentioned map[string]bool
}

// survey has the names that all files export and use.
type survey struct {
	packages map[string]*exported       // packages by folder
	named    map[string]bool            // "folder.Name" that another package writes
	selected map[string]map[string]bool // by the name of a method or field, where it is selected
}

func (s *survey) hasUser(folder, name string, list []string) bool {
	if _, member, ok := strings.Cut(name, "."); ok {
		for from := range s.selected[member] {
			if from != folder {
				return true
			}
		}
		return slices.Contains(inherited, member)
	}
	named := func(name string) bool { return s.named[folder+"."+name] }
	return named(name) || s.packages[folder].mentioned[name] || slices.ContainsFunc(list, named)
}

// visit reads a file. Uses in an example of a package count; uses in its other tests do
// not.
func (s *survey) visit(name string, d fs.DirEntry, err error) error {
	base := path.Base(name)
	switch {
	case err != nil:
		return err
	case d.IsDir() && name != "." && (base == "testdata" || base[0] == '_' || base[0] == '.'):
		return fs.SkipDir
	case d.IsDir() || !strings.HasSuffix(base, ".go"):
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder := path.Dir(name)
	internal := slices.Contains(strings.Split(folder, "/"), "internal") || f.Name.Name == "main"
	if !strings.HasSuffix(base, "_test.go") && !internal {
		if s.packages[folder] == nil {
			s.packages[folder] = &exported{map[string][]string{}, map[string]bool{}}
		}
		s.packages[folder].declare(f)
	}
	if base == "example_test.go" {
		folder = "an example of " + folder
	}
	s.use(folder, f)
	return nil
}

func (p *exported) declare(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			p.function(d)
		case *ast.GenDecl:
			var list []string
			for _, spec := range d.Specs {
				switch v := spec.(type) {
				case *ast.TypeSpec:
					p.declareType(v)
				case *ast.ValueSpec:
					for _, n := range v.Names {
						list = append(list, n.Name)
					}
					p.mention(v.Type)
				}
			}
			for _, n := range list {
				if ast.IsExported(n) && d.Tok == token.CONST {
					p.names[n] = list
				} else if ast.IsExported(n) {
					p.names[n] = nil
				}
			}
		}
	}
}

func (p *exported) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv != nil {
		of := receiver(d)
		if !ast.IsExported(of) {
			return
		}
		name = of + "." + name
	}
	if d.Name.IsExported() {
		p.names[name] = nil
		p.mention(d.Type)
	}
}

// receiver returns the name of the receiver type of a method.
func receiver(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func (p *exported) declareType(d *ast.TypeSpec) {
	if !d.Name.IsExported() {
		return
	}
	p.names[d.Name.Name] = nil
	s, ok := d.Type.(*ast.StructType)
	if !ok {
		p.mention(d.Type)
		return
	}
	for _, field := range s.Fields.List {
		shown := len(field.Names) == 0
		for _, n := range field.Names {
			shown = shown || n.IsExported()
			if n.IsExported() && field.Tag == nil {
				p.names[d.Name.Name+"."+n.Name] = nil
			}
		}
		if shown {
			p.mention(field.Type)
		}
	}
}

// mention records the names in the type of an exported declaration.
func (p *exported) mention(e ast.Expr) {
	if e == nil {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok {
			p.mentioned[id.Name] = true
		}
		return true
	})
}

// use records the names of other packages in a file of a folder, and all names that it
// selects.
func (s *survey) use(folder string, f *ast.File) {
	const module = "github.com/bnctl/bnctl"
	imports := map[string]string{} // folders of the imported packages, by their names in this file
	for _, spec := range f.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value)
		if imp != module && !strings.HasPrefix(imp, module+"/") {
			continue
		}
		local := path.Base(imp)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if imports[local] = strings.TrimPrefix(imp, module+"/"); imp == module {
			imports[local] = "."
		}
	}
	selects := func(name, from string) {
		if s.selected[name] == nil {
			s.selected[name] = map[string]bool{}
		}
		s.selected[name][from] = true
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			selects(x.Sel.Name, folder)
			if id, ok := x.X.(*ast.Ident); ok && imports[id.Name] != "" && imports[id.Name] != folder {
				s.named[imports[id.Name]+"."+x.Sel.Name] = true
			}
		case *ast.KeyValueExpr:
			if id, ok := x.Key.(*ast.Ident); ok {
				selects(id.Name, folder)
			}
		case *ast.InterfaceType:
			for _, m := range x.Methods.List {
				for _, id := range m.Names {
					selects(id.Name, "an interface")
				}
			}
		}
		return true
	})
}
