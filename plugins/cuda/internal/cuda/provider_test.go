package cuda

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fake builds a libnvidia-ml with two GPUs, or one that fails in some way.
func fake(t *testing.T, mode string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc, which builds the library that stands for the driver's, is not installed")
	}
	lib := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	gcc := exec.Command("gcc", "-shared", "-fPIC", `-DMODE="`+mode+`"`, "-o", lib, "../cu/testdata/nvml.c")
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return lib
}

func TestList(t *testing.T) {
	tests := []struct {
		mode, visible, want, reason string
	}{
		{"", "", "cuda:0 GPU-aaaa, cuda:1 GPU-bbbb", ""},
		{"none", "", "", "there is no GPU"},
		{"no driver", "", "", "nvmlInit_v2: Driver Not Loaded (9); install"},
		{"lost", "", "", "GPU 1: nvmlDeviceGetHandleByIndex_v2: GPU is lost (15)"},
		{"", "1", "cuda:0 GPU-bbbb", ""},
		{"", "GPU-b,0", "cuda:0 GPU-bbbb, cuda:1 GPU-aaaa", ""},
		{"", "0,-1,1", "cuda:0 GPU-aaaa", ""},
		{"parts", "", "cuda:0 MIG-aaaa, cuda:1 MIG-bbbb, cuda:2 GPU-bbbb", ""},
		{"parts", "MIG-b,MIG-a", "cuda:0 MIG-bbbb, cuda:1 MIG-aaaa", ""},
		{"parts", "1", "cuda:0 GPU-bbbb", ""},
		{"", "-1", "", `CUDA_VISIBLE_DEVICES="-1" leaves none of 2 GPUs`},
	}
	for _, test := range tests {
		t.Run(test.mode+test.visible, func(t *testing.T) {
			if test.visible != "" {
				t.Setenv("CUDA_VISIBLE_DEVICES", test.visible)
			}
			list, reason, err := Provider{Library: fake(t, test.mode)}.List(context.Background())
			if err != nil || !strings.Contains(reason, test.reason) || (reason == "") != (test.reason == "") {
				t.Errorf("reason %q, %v, want %q", reason, err, test.reason)
			}
			var got []string
			for _, i := range list {
				got = append(got, i.Name+" "+i.ID)
				if i.MemoryTotal != 80<<30 || !strings.Contains(i.Description, "driver 580.65.06") {
					t.Errorf("%+v: memory or description is wrong", i)
				}
			}
			if s := strings.Join(got, ", "); s != test.want {
				t.Errorf("devices %q, want %q", s, test.want)
			}
		})
	}
}

func TestLibraryOfNoUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	if err := os.WriteFile(file, []byte("no library"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, reason, err := Provider{Library: file}.List(context.Background())
	if err != nil || !strings.Contains(reason, file) || strings.Contains(reason, "not found") {
		t.Errorf("List() with a file that is no library: %q, %v", reason, err)
	}
}

func TestNoLibrary(t *testing.T) {
	list, reason, err := Provider{Library: "/nowhere/libnvidia-ml.so.1"}.List(context.Background())
	if len(list) > 0 || err != nil || !strings.Contains(reason, "/nowhere/libnvidia-ml.so.1 not found") ||
		!strings.Contains(reason, "use {devices} cpu") {
		t.Errorf("List() = %v, %q, %v; want no devices, a reason and no error", list, reason, err)
	}
}
