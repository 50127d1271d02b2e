package house

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPromisesAreHeld: the tests that docs/promises.md names exist.
func TestPromisesAreHeld(t *testing.T) {
	page, err := os.ReadFile("docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)").FindAllStringSubmatch(string(page), -1)
	if len(named) < 8 {
		t.Errorf("only %d tests are named", len(named))
	}
	var code strings.Builder
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		b, err := os.ReadFile(name)
		code.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range named {
		if !strings.Contains(code.String(), "\nfunc "+m[1]+"(") {
			t.Errorf("docs/promises.md names %s, which is no test", m[1])
		}
	}
}
