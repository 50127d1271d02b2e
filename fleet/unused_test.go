package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestUnusedGPUsStartNoPlugin checks that neither other devices nor the note about unused GPUs start
// the CUDA plugin.
func TestUnusedGPUsStartNoPlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script of sh")
	}
	folder := t.TempDir()
	started, gpus := filepath.Join(folder, "started"), filepath.Join(folder, "gpus")
	script := fmt.Sprintf("#!/bin/sh\ntouch %s\nexit 1\n", started)
	if err := os.WriteFile(filepath.Join(folder, "bnctl-device-cuda"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BNCTL_PLUGIN_PATH", folder)
	t.Setenv("XDG_DATA_HOME", folder)
	defer func(before string) { gpuFolder = before }(gpuFolder)
	gpuFolder = gpus
	for n := range 3 {
		if n > 0 {
			if err := os.MkdirAll(filepath.Join(gpus, fmt.Sprintf("0000:%02d:00.0", n)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		var notes []string
		f, err := Open(t.Context(), Options{Devices: "ref", Plugins: Plugins{Unlocked: true},
			Note: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		want := [][]string{nil, {"unused here: 1 CUDA device; devices cuda takes all"},
			{"unused here: 2 CUDA devices; devices cuda takes all"}}[n]
		if !slices.Equal(notes, want) {
			t.Errorf("%d GPUs: notes %q, want %q", n, notes, want)
		}
		if _, err := os.Stat(started); err == nil {
			t.Fatalf("%d GPUs: the CUDA plugin was started", n)
		}
	}
}
