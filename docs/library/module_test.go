package library_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/png"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// check ends a program that cannot continue.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// trained trains a model, for programs that need one.
func trained(o bnctl.TrainOptions) *models.Model {
	run, err := bnctl.Open(context.Background(), o)
	check(err)
	defer run.Close()
	m, err := run.Train(context.Background())
	check(err)
	return m
}

const module = "../examples/library"

// A program in another module can train with custom data and continue after an interruption, strip to a file
// of PyTorch and back, and predict a folder of pictures. The main function of each program has at most 15
// lines.
func TestModule(t *testing.T) {
	bin, folder, other := t.TempDir(), t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, "./...")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	draw(t, filepath.Join(folder, "photos"))
	stopped(t, filepath.Join(bin, "train"), folder)
	for _, c := range []struct{ folder, program, says, file string }{
		{folder, "train", "^$", "halves.bnm"},
		{other, "train", "^$", "halves.bnm"},
		{folder, "strip", "^[1-9][0-9]* optimizer tensors are gone\nmlp-bn of pytorch zip with 234498 parameters\n$",
			"again.bnm"},
		{folder, "predict", `photos.left\.png left\n.*photos.right\.png right\n$`, ""},
	} {
		run := exec.Command(filepath.Join(bin, c.program))
		run.Dir = c.folder
		out, err := run.CombinedOutput()
		if err != nil || !regexp.MustCompile(c.says).Match(out) {
			t.Errorf("%s: %v, it says %q, want %q", c.program, err, out, c.says)
		}
		if _, err := os.Stat(filepath.Join(c.folder, c.file)); err != nil {
			t.Errorf("%s: %v", c.program, err)
		}
		if n := lines(t, filepath.Join(module, c.program, "main.go")); n > 15 {
			t.Errorf("main of %s has %d lines; want 15 at most", c.program, n)
		}
	}
	resumed, err1 := os.ReadFile(filepath.Join(folder, "halves.bnm"))
	whole, err2 := os.ReadFile(filepath.Join(other, "halves.bnm"))
	if err1 != nil || err2 != nil || !bytes.Equal(resumed, whole) {
		t.Errorf("a run that was stopped, and one that was not, wrote other bytes: %v, %v", err1, err2)
	}
	sameState(t, filepath.Join(folder, "halves.bnm"), filepath.Join(folder, "again.bnm"))
}

// stopped starts a training and interrupts it after its first checkpoint.
func stopped(t *testing.T, program, folder string) {
	t.Helper()
	run := exec.Command(program)
	run.Dir = folder
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(folder, "halves.bnc")); err == nil {
			break
		}
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err == nil {
		t.Error("the training had ended before it was interrupted")
	}
}

// sameState compares the tensors of two templates.
func sameState(t *testing.T, a, b string) {
	t.Helper()
	one, err := serialize.ReadModel(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := serialize.ReadModel(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range one.State {
		if y := other.State[name]; !bytes.Equal(x.Bytes, y.Bytes) {
			t.Errorf("%s: %s differs from %s", name, b, a)
		}
	}
}

// draw writes two pictures, bright on the left and on the right.
func draw(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"left.png", "right.png"} {
		x, err := halves(2).Sample(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		grey := &image.Gray{Pix: x.Bytes, Stride: x.Shape[1], Rect: image.Rect(0, 0, x.Shape[1], x.Shape[0])}
		if err := png.Encode(&file, grey); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// lines returns the number of lines of the main function in a file.
func lines(t *testing.T, name string) int {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	body := f.Scope.Lookup("main").Decl.(*ast.FuncDecl).Body
	return set.Position(body.Rbrace).Line - set.Position(body.Lbrace).Line - 1
}
