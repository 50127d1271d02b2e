package cuda

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cuda/internal/cu"
	"github.com/bnctl/bnctl/plugins/gpu"
)

// fakeGPU is the UUID of the only GPU of testdata/cuda.c.
const fakeGPU = "GPU-00112233-4455-6677-8899-aabbccddeeff"

// fakeCUDA builds a libcuda from testdata/cuda.c. mode selects how it behaves.
func fakeCUDA(t testing.TB, mode string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc, which builds the library that stands for the driver's, is not installed")
	}
	lib := filepath.Join(t.TempDir(), "libcuda.so.1")
	gcc := exec.Command("gcc", "-shared", "-fPIC", "-pthread", `-DMODE="`+mode+`"`, "-o", lib,
		"../cu/testdata/cuda.c")
	if mode == "no graphs" {
		gcc.Args = append(gcc.Args, "-DNO_GRAPHS")
	}
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return lib
}

// TestDriver checks that bytes are read back as they were written, even more than both halves of the pinned
// memory, and that kernels get their arguments.
func TestDriver(t *testing.T) {
	d, err := openDriver(fakeGPU, fakeCUDA(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 5<<20)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	b, err := d.Alloc(len(data))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(data)-4)
	err = errors.Join(d.Write(b, 0, data), d.Read(gpu.Transfer{Data: got, From: b, At: 4})())
	if err != nil || !bytes.Equal(got, data[4:]) {
		t.Errorf("other bytes come back: %v", err)
	}
	from, err := d.Mark()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Launch("fill", [2]int{1, 1}, []any{int32(0), b, int32(2), int32(7)}); err != nil {
		t.Fatal(err)
	}
	to, err := d.Mark()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(d.Wait(), d.Read(gpu.Transfer{Data: got[:8], From: b})())
	if want := []byte{7, 0, 0, 0, 7, 0, 0, 0}; err != nil || !bytes.Equal(got[:8], want) {
		t.Errorf("fill made %v: %v", got[:8], err)
	}
	times, err := d.Times([]gpu.Mark{from, to})
	if err != nil || len(times) != 1 || times[0] != 250*time.Microsecond {
		t.Errorf("times %v, %v", times, err)
	}
	figures, err := d.(driver).x.Figures("fill")
	if err != nil || figures != (cu.Figures{Registers: 40}) {
		t.Errorf("figures %+v, %v", figures, err)
	}
	_, err = d.Alloc(6 << 20)
	const want = "want a buffer of 6 MiB, 5 MiB are free"
	if !errors.Is(err, device.OutOfMemory) || !strings.Contains(err.Error(), want) {
		t.Errorf("too large a buffer: %v", err)
	}
	if err := errors.Join(d.Free(b), d.Close()); err != nil {
		t.Error(err)
	}
}

// TestSticky checks that a fault that makes a context unusable returns the error Lost, with the driver's
// text.
func TestSticky(t *testing.T) {
	for mode, want := range map[string]string{
		"illegal": "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)",
		"ecc":     "uncorrectable ECC error encountered (CUDA_ERROR_ECC_UNCORRECTABLE)",
	} {
		d, err := openDriver(fakeGPU, fakeCUDA(t, mode))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Launch("conv", [2]int{1, 1}, []any{int32(0)}); err != nil {
			t.Errorf("%s: the launch itself: %v", mode, err)
		}
		if err := d.Wait(); !errors.Is(err, device.Lost) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
		d.Close()
	}
}

func TestDriverThatDoesNotOpen(t *testing.T) {
	for mode, want := range map[string]string{
		"old":        "the driver knows CUDA 9.0, and the kernels need 9.2; install a newer NVIDIA driver",
		"ancient":    "the GPU has compute capability 3.7, and the kernels need 6.0; use devices cpu",
		"exclusive":  "the GPU is in exclusive use by another process",
		"prohibited": "computing on the GPU is prohibited",
		"taken":      "cuCtxCreate: out of memory",
		"compiler":   "ptxas: line 7: unknown instruction",
		"no device":  "cuInit: no CUDA-capable device is detected",
	} {
		if _, err := openDriver(fakeGPU, fakeCUDA(t, mode)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
	}
	_, err := openDriver("GPU-aaaa", fakeCUDA(t, ""))
	if err == nil || !strings.Contains(err.Error(), "GPU-aaaa is none") {
		t.Errorf("a GPU that is not there: %v", err)
	}
	_, err = openDriver(fakeGPU, "/nowhere/libcuda.so.1")
	if err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("no library: %v", err)
	}
}

// TestOpen checks the errors of Open, and the note about memory that other processes use.
func TestOpen(t *testing.T) {
	ctx := context.Background()
	p := Provider{Library: fake(t, ""), open: func(string) (gpu.Driver, error) {
		return openDriver(fakeGPU, fakeCUDA(t, "taken"))
	}}
	for _, c := range []struct {
		id, want string
		options  device.Options
	}{
		{id: "GPU-bbbb", want: "cuda:1: Open: unavailable: cuCtxCreate: out of memory (CUDA_ERROR_OUT_OF_MEMORY); " +
			"61440 of 81920 MiB are free, others have the rest"},
		{id: "GPU-cccc", want: `no GPU "GPU-cccc"; there are GPU-aaaa, GPU-bbbb`},
		{id: "GPU-aaaa", want: "precision bf16 is computed by CPUs only", options: device.Options{Precision: "bf16"}},
		{id: "GPU-aaaa", want: `kernels "amx" run on CPUs only`, options: device.Options{Kernels: "amx"}},
	} {
		if _, err := p.Open(ctx, c.id, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%s): %v, want %s", c.id, err, c.want)
		}
	}
	_, err := Provider{Library: "/nowhere"}.Open(ctx, "0", device.Options{})
	if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), "not found") {
		t.Errorf("Open without a driver: %v", err)
	}
}
