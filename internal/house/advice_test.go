package house

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// othersFlags are texts that look like flags or commands of bnctl to flagName: flags of other
// programs, and a tag of data.
var othersFlags = []string{"tar --dereference", "nvidia-smi -c", "bnctl data 1"}

// adviceInText lists exceptions, with advice in the text: answers of a protocol with errors of one
// sentence, and a value that states the reason before the problem.
var adviceInText = []string{"server/", "train/gap.go"}

var (
	// flagName matches a long or short flag, or a command that is typed.
	flagName = regexp.MustCompile(`(^|[\s("'\x60])(--([a-z]|$)|-[a-zA-Z]([\s,;:.)"'\x60]|$)|(bnctl (bench|data|demo|devices|` +
		`doctor|eval|export|help|inspect|models|plugin|predict|quantize|serve|strip|study|train)|` +
		`make (` + strings.Join(makeTargets(), "|") + `)|go (build|get|install|run|test|vet)|` +
		`(apt|apt-get|npm|pip) install|python3? -m)([^a-z-]|$))`)
	// advised matches a sentence that ends with advice: see CONTRIBUTING.md, Errors.
	advised = regexp.MustCompile(`[;:] (please |first )?(add|allow|ask|build|call|choose|convert|evaluate|export|fetch|` +
		`fit|freeze|give|go on|install|leave|look|make|name|pack|pass|pick|put|re-estimate|rebuild|run|save|see|send|` +
		`set|start|strip|take|try|unpack|update one|upgrade|use|wait|write) [^%]`)
)

// makeTargets returns the targets of the Makefile. It is called before TestMain.
func makeTargets() (names []string) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		panic(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

// TestFlagsAndCommandsAreFound checks flagName, which the test below uses, in every form.
func TestFlagsAndCommandsAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"use --devices cpu": true, "use -o FILE": true, "give it by -o;": true, "(-o)": true, "x is no -o": true,
		"run make cuda-binary first": true, "make build": true, "see `bnctl devices list`": true,
		"pip install torch": true, "go run ./x": true, "write it as --": true,
		"make a new head": false, "make builders": false, "B-A": false, "go tests it": false, "x-y": false,
		"bnctl's own file": false, "3 - 2": false,
	} {
		if flagName.MatchString(text) != want {
			t.Errorf("%q is a flag or a command: %v", text, !want)
		}
	}
}

// TestErrorsNameNoFlagAndKeepAdviceApart checks two rules of errors: only the package of
// the command knows flags, and advice is the value Advice, not part of a text.
func TestErrorsNameNoFlagAndKeepAdviceApart(t *testing.T) {
	for pkg := range strings.Lines(layers) {
		pkg, _, _ = strings.Cut(strings.TrimSpace(pkg), ":")
		if pkg == "" || under(pkg, "cmd/", "scripts/", "docs/examples/") {
			continue
		}
		set, files := sources(t, pkg, 0)
		for _, f := range files {
			at := set.Position(f.Package).Filename
			ast.Inspect(f, func(n ast.Node) bool {
				if text, ok := joinedText(n); ok {
					if flagName.MatchString(text) && !within(othersFlags, text) {
						t.Errorf("%s: %q names a flag or a command, which only the command line knows: write {option}", at, text)
					}
					return false
				}
				for _, arg := range textsOf(n) {
					text, _ := joinedText(arg)
					if advised.MatchString(text) && !under(at, adviceInText...) {
						t.Errorf("%s: %q says what to do: make that the Advice of a problem.Error", at, text)
					}
				}
				return true
			})
		}
	}
}

// textsOf returns the arguments of a call that are the text of an error or of a sentence, without its
// advice.
func textsOf(n ast.Node) []ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	made, of := "", ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		made = f.Name
	case *ast.SelectorExpr:
		made = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
	}
	switch {
	case made == "Advise":
		return call.Args[1:]
	case of == "problem" && made == "Failure":
		return call.Args[:2]
	case of == "problem" && made == "New":
		return call.Args[:3]
	case of == "errors" && made == "New", made == "Errorf", made == "Sprintf", made == "fail", made == "refuse":
		return call.Args
	}
	return nil
}

// joinedText returns the text of a string literal, or of several literals that are joined by +.
func joinedText(n ast.Node) (text string, ok bool) {
	switch e := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, left := joinedText(e.X)
		b, right := joinedText(e.Y)
		return a + b, left && right
	}
	return "", false
}

func under(name string, folders ...string) bool {
	for _, f := range folders {
		if strings.HasPrefix(name, f) {
			return true
		}
	}
	return false
}

func within(parts []string, text string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
