package torch

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// samples has a tensor of every type, a scalar and an empty one.
func samples() []foreign.Tensor {
	out := []foreign.Tensor{
		foreign.InMemory("scalar", tensor.Scalar[int64](7)),
		foreign.InMemory("empty", tensor.New(tensor.F32, 0, 3)),
	}
	for _, d := range dtypes {
		x := tensor.New(d.dtype, 2, 3)
		for i := range x.Bytes {
			x.Bytes[i] = byte(i % 2)
		}
		out = append(out, foreign.InMemory("layer."+d.name, x))
	}
	return out
}

func TestWriteReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, samples()); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lines(t, f), lines(t, &foreign.File{Tensors: samples()}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWriteHasAVersion: load_state_dict of torchvision's MNASNet needs a version.
func TestWriteHasAVersion(t *testing.T) {
	for _, labels := range [][]string{nil, {"cat"}} {
		want := "}X\t\x00\x00\x00_metadataccollections\nOrderedDict\n)RX\x00\x00\x00\x00}X\a\x00\x00\x00versionK\x02sss"
		if labels != nil {
			want += "X\x06\x00\x00\x00labels](X\x03\x00\x00\x00cates"
		}
		if got := stateDictPickle(samples(), labels); !bytes.HasSuffix(got, []byte(want+"b.")) {
			t.Errorf("labels %q: the state dict ends in %q, want %q", labels, got[len(got)-100:], want+"b.")
		}
	}
}

func TestWriteAligns(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, samples()); err != nil {
		t.Fatal(err)
	}
	z, err := foreign.OpenZip(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range z.Entries {
		if e.Offset%alignment != 0 {
			t.Errorf("%s: its bytes are at offset %d, which is not a multiple of %d", e.Name, e.Offset, alignment)
		}
	}
}

// TestPeerPyTorch needs a Python with PyTorch; without it, testdata/goldens.txt covers the
// reading direction.
func TestPeerPyTorch(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("peers are tested by make test-peers")
	}
	path := filepath.Join(t.TempDir(), "out.pth")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	known := samples()[:12] // the types that PyTorch 1.13 knows
	if err := Write(out, known); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	program := `import sys, torch
state = torch.load(sys.argv[1], weights_only=True)
assert state._metadata == {"": {"version": 2}}, state._metadata  # without it torchvision's MNASNet refuses the file
for name, t in state.items():
    print(name, list(t.shape), t.dtype, t.double().sum().item())
`
	got, err := exec.Command("/usr/bin/python3", "-c", program, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if n := bytes.Count(got, []byte("\n")); n != len(known) {
		t.Errorf("PyTorch sees %d tensors, want %d:\n%s", n, len(known), got)
	}
}
