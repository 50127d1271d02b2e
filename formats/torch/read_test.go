package torch

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/internal/shareddata"
)

// goldens reads a file of testdata: the contents of each file according to PyTorch.
func goldens(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, path := map[string]string{}, ""
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "# "); ok {
			path = name
			continue
		}
		out[path] += s.Text() + "\n"
	}
	return out
}

// lines describes tensors as goldens.txt does.
func lines(t *testing.T, f *foreign.File) string {
	t.Helper()
	var b strings.Builder
	for _, x := range f.Tensors {
		v, err := x.Load()
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for _, d := range dtypes {
			if d.dtype == x.DType {
				name = d.name
			}
		}
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(x.Shape), "[]"), " ", ",")
		if shape == "" {
			shape = "-"
		}
		fmt.Fprintf(&b, "%s %s %s %x\n", x.Name, name, shape, sha256.Sum256(v.Bytes))
	}
	return b.String()
}

func TestReadsWhatPyTorchReads(t *testing.T) {
	for name, want := range goldens(t, "goldens.txt") {
		path, shared := strings.CutPrefix(name, "data/")
		if shared {
			folder, ok := shareddata.Folder()
			if !ok {
				continue // TestSharedData reports it
			}
			path = filepath.Join(folder, path)
		} else {
			path = filepath.Join("testdata", path)
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := Read(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := lines(t, f)
			if shared {
				got = fmt.Sprintf("%x\n", sha256.Sum256([]byte(got)))
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestSharedData(t *testing.T) {
	f, err := Read(shareddata.File(t, "format-cases/pytorch/burn/tar_weight_bias.tar"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := fmt.Sprint(f.Tensors), "[weight f32[2,3] bias f32[2]]"; got != want {
		t.Errorf("tar: tensors %s, want %s", got, want)
	}
	w, err := f.Tensors[0].Load()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(w.F32()), "[0.1 0.2 0.3 0.4 0.5 0.6]"; got != want {
		t.Errorf("tar: weight %s, want %s", got, want)
	}
}

func TestTrainingCheckpoint(t *testing.T) {
	f, err := Read("testdata/cases/training.pth.tar", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct{ what, got, want string }{
		{"wrappers", fmt.Sprint(f.Wrappers), "[state_dict]"},
		{"counters", fmt.Sprint(f.Counters), "[{epoch 3} {arch tiny} {best_acc 0.5}]"},
		{"left out", strings.ReplaceAll(fmt.Sprint(f.Left), "  ", " "), "[{state_dict_ema average of the weights {ema} takes it 7 280} " +
			"{optimizer state of the training 12 520}]"},
		{"findings", fmt.Sprint(f.Findings), "[{args an object of argparse.Namespace was not opened  false false}]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
		}
	}
}

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		file string
		o    Options
		want string // first tensor, or the end of the error
	}{
		{"training.pth.tar", Options{}, "module.0.weight f32[3,2,3,3]"},
		{"training.pth.tar", Options{EMA: true}, "0.weight f32[3,2,3,3]"},
		{"training.pth.tar", Options{Key: "state_dict_ema"}, "0.weight f32[3,2,3,3]"},
		{"training.pth.tar", Options{Key: "epoch"}, `key epoch is the number 3, not a dict`},
		{"training.pth.tar", Options{Key: "nothing"},
			`key nothing: no nothing; there are "epoch", "arch", "best_acc", ` +
				`"args", "counts", "state_dict", "state_dict_ema", "optimizer", "scheduler"`},
		{"gan.pth", Options{}, `2 candidates for the state dict: "netG", "netD"; pick one with key`},
		{"gan.pth", Options{Key: "netD"}, "0.weight f32[3,2,3,3]"},
		{"gan.pth", Options{EMA: true}, `no state dict of averages (EMA) is in the file, ` +
			`there are the keys "netG", "netD"; if it is under one of them, name it with key`},
		{"nested.pth", Options{}, `"model.body", "model.head"; pick one with key`},
		{"nested.pth", Options{Key: "model"}, "body.0.weight f32[3,2,3,3]"},
		{"nested.pth", Options{Key: "model.head"}, "w f32[24]"},
	} {
		got := ""
		f, err := Read("testdata/cases/"+c.file, c.o)
		if err != nil {
			got = err.Error()
		} else {
			got = f.Tensors[0].String()
			f.Close()
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s %+v: got %q, want %q", c.file, c.o, got, c.want)
		}
	}
}
