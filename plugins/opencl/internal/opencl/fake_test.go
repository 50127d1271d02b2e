package opencl

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
)

// fake builds a libOpenCL for tests. mode selects how it behaves.
func fake(t *testing.T, mode string) Provider {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc, which builds the library that stands for the driver's, is not installed")
	}
	lib := filepath.Join(t.TempDir(), "libOpenCL.so.1")
	gcc := exec.Command("gcc", "-shared", "-fPIC", `-DMODE="`+mode+`"`, "-o", lib, "../cl/testdata/opencl.c")
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return Provider{Library: lib}
}

// TestNothingToOpen checks the error messages for devices that do not exist, or that have no memory left.
func TestNothingToOpen(t *testing.T) {
	for mode, want := range map[string]string{
		"none":  "no platform with a device; install the OpenCL driver of the device or use devices cpu",
		"empty": "no platform with a device; install the OpenCL driver of the device or use devices cpu",
		"busy":  "the device is not available (-2)",
		"taken": "out of resources (-5)",
	} {
		_, err := fake(t, mode).Open(context.Background(), "0", device.Options{})
		if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
	}
}

// TestListCreatesNoContext checks that List creates no context: the library for tests would end the
// process.
func TestListCreatesNoContext(t *testing.T) {
	list, reason, err := fake(t, "listed").List(context.Background())
	if err != nil || reason != "" || len(list) != 1 || list[0].Name != "opencl:0" {
		t.Errorf("List() = %v, %q, %v", list, reason, err)
	}
}
