//go:build opencl

package opencl

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
)

// TestCompilerErrors checks that the error has the log of the compiler.
func TestCompilerErrors(t *testing.T) {
	api, found, reason := Provider{}.find()
	if len(found) == 0 {
		t.Fatal(reason)
	}
	_, err := api.Open(found[0], "kernel void f(global int *x) { x[0] = unheard_of; }", "")
	if err == nil || !strings.Contains(err.Error(), "the kernels do not compile (-11)") ||
		!strings.Contains(err.Error(), "unheard_of") {
		t.Errorf("a source that does not compile: %v", err)
	}
}

// TestRefused checks the errors of Open for options that the device does not support.
func TestRefused(t *testing.T) {
	for want, c := range map[string]struct {
		id string
		o  device.Options
	}{
		`no device "quantum"; there are 0 (`:        {"quantum", device.Options{}},
		"precision bf16 is computed by CPUs only":   {"0", device.Options{Precision: "bf16"}},
		`kernels "generic" run on CPUs only`:        {"0", device.Options{Kernels: "generic"}},
		`kernels "amx" run on CPUs only; this devi`: {"0.0", device.Options{Kernels: "amx"}},
	} {
		_, err := Provider{}.Open(context.Background(), c.id, c.o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestNoVendor checks that opening a device fails without a platform, and that nothing computes in its
// place.
func TestNoVendor(t *testing.T) {
	if os.Getenv("OCL_ICD_VENDORS") != "" { // this is the process that the test starts
		_, err := Provider{}.Open(context.Background(), "0", device.Options{})
		if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), "no platform with a device") {
			t.Errorf("Open: %v", err)
		}
		return
	}
	again := exec.Command(os.Args[0], "-test.run", "TestNoVendor$")
	again.Env = append(os.Environ(), "OCL_ICD_VENDORS="+t.TempDir())
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBinaries checks that a stored build is reused, and is built again if it is damaged.
func TestBinaries(t *testing.T) {
	folder := t.TempDir()
	api, found, reason := Provider{}.find()
	if len(found) == 0 {
		t.Fatal(reason)
	}
	open := func() []byte {
		q, err := api.Open(found[0], "kernel void conv(global int *x) { x[0] = 1; }", folder)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Kernel("conv"); err != nil {
			t.Error(err)
		}
		q.Close()
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %v, %v", files, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[0], data[:len(data)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		return data
	}
	if a, b := len(open()), len(open()); a != b {
		t.Errorf("binaries of %d and of %d bytes", a, b)
	}
}
