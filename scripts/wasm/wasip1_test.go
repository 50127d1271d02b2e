package wasm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// A WebAssembly module computes the same bits as the command.
func TestWasip1(t *testing.T) {
	folder, all := t.TempDir(), chosen()
	templates(t, folder, all)
	h := newHost(t, folder)
	for _, n := range all {
		began := time.Now()
		sum, errs := h.run(t, n.Kernels, filepath.Base(n.Model), "picture.png")
		if sum != n.Sum {
			t.Errorf("%s: %q under wazero, %s by the command\n%s", n.Name, sum, n.Sum, errs)
		}
		t.Logf("%-32s %s  %.1f s with load", n.Name, n.Sum[:16], time.Since(began).Seconds())
		if os.Getenv("BNCTL_TIMES") != "" {
			t.Logf("%-32s %.1f ms of the processor per picture", n.Name, h.milliseconds(t, n))
		}
	}
	const none = "" // the sum is not compared
	for _, args := range [][]string{{"picture.png", "picture.png"}, {"0.bnm", "0.bnm"}, {"missing.bnm", "picture.png"}} {
		if sum, errs := h.run(t, "", args...); sum != none || !strings.HasPrefix(errs, "wasi: ") {
			t.Errorf("%q: sum %q, %q; want an error", args, sum, errs)
		}
	}
}

// host runs the module of docs/examples/wasi under wazero.
type host struct {
	runtime wazero.Runtime
	program wazero.CompiledModule
	folder  string
}

func newHost(t *testing.T, folder string) *host {
	file := filepath.Join(folder, "wasi.wasm")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", file, "./docs/examples/wasi")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{runtime: wazero.NewRuntime(t.Context()), folder: folder}
	t.Cleanup(func() { h.runtime.Close(context.Background()) })
	wasi_snapshot_preview1.MustInstantiate(t.Context(), h.runtime)
	if h.program, err = h.runtime.CompileModule(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	return h
}

// milliseconds returns the processor time of one prediction: the time of four predictions in one run of the
// module, minus the time of one prediction in another run, divided by three.
func (h *host) milliseconds(t *testing.T, n *network) float64 {
	began := processor(t)
	h.run(t, n.Kernels, filepath.Base(n.Model), "picture.png", "1")
	one := processor(t)
	h.run(t, n.Kernels, filepath.Base(n.Model), "picture.png", "4")
	return ((processor(t) - one) - (one - began)).Seconds() * 1000 / 3
}

// processor returns the processor time that this process has used so far.
func processor(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// run runs the module. It returns the last word that the module prints, and its errors.
func (h *host) run(t *testing.T, kernels string, args ...string) (sum, errs string) {
	var out, messages bytes.Buffer
	c := wazero.NewModuleConfig().WithName("").WithStdout(&out).WithStderr(&messages).
		WithSysWalltime().WithSysNanotime().WithArgs(append([]string{"wasi"}, args...)...).
		WithEnv("KERNELS", kernels).WithEnv("PWD", "/").
		WithFSConfig(wazero.NewFSConfig().WithReadOnlyDirMount(h.folder, "/"))
	_, err := h.runtime.InstantiateModule(t.Context(), h.program, c)
	if err != nil && !strings.Contains(err.Error(), "exit_code(") {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	if words := strings.Fields(out.String()); len(words) > 0 {
		sum = words[len(words)-1]
	}
	return sum, messages.String()
}
