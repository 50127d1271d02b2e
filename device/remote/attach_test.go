package remote_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// debugged starts a plugin as an author does, in a debugger for example, and
// returns it, its standard input, and the line that it greets with.
func debugged(t *testing.T) (cmd *exec.Cmd, stdin io.Closer, line string) {
	t.Helper()
	c := plugin("main")
	cmd = exec.Command(c.Path, "debug")
	folder, err := os.MkdirTemp("", "socket") // t.TempDir's paths are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = slices.Concat(os.Environ(), c.Env, []string{"TMPDIR=" + folder})
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
		if err := os.Remove(folder); err != nil && cmd.ProcessState.Success() && runtime.GOOS != "windows" {
			t.Errorf("a plugin that was told to end left something behind: %v", err)
		}
		os.RemoveAll(folder) // the files of the killed process
	})
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in, strings.TrimSpace(line)
}

// attach returns the running plugin that the environment names.
func attach(t *testing.T) *remote.Plugin {
	t.Helper()
	found, err := remote.Find()
	if err != nil || len(found) == 0 || found[0].Name != "mine" {
		t.Fatalf("Find() = %+v, %v", found, err)
	}
	c, err := found[0].Command(false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := remote.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// TestAttach connects to a plugin that it did not start, computes with it, and leaves it
// running.
func TestAttach(t *testing.T) {
	place(t)
	cmd, stdin, line := debugged(t)
	t.Setenv("BNCTL_REATTACH_DEVICES", "other=1|1|unix|/nowhere|grpc|, mine="+line)
	found, err := remote.Find()
	if err != nil || len(found) != 2 {
		t.Fatalf("Find() = %+v, %v", found, err)
	}
	t.Setenv("BNCTL_REATTACH_DEVICES", "mine="+line)
	p := attach(t)
	if list, _, err := p.List(context.Background()); len(list) != 1 || err != nil {
		t.Errorf("List() = %v, %v", list, err)
	}
	p.Close()
	p = attach(t) // listing the devices has not ended the process
	d := open(t, p)
	if got := d.Info().Levels[0]; got != device.Stream || d.Info().Note == "" || d.Info().Process != 0 {
		t.Errorf("level %s of process %d: %q", got, d.Info().Process, d.Info().Note)
	}
	x := load(t, d, regression(t))
	if _, err := x.Run(context.Background(), step(1, 2)); err != nil {
		t.Fatal(err)
	}
	d.Close()
	p.Close()
	if _, err := attach(t).Open(context.Background(), device.DefaultID, device.Options{}); !errors.Is(err,
		device.Invalid) {
		t.Errorf("a second device of a process: %v", err)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the plugin was not left alone: %v", err)
	}
}

func TestAttachedPluginGoes(t *testing.T) {
	place(t)
	cmd, _, line := debugged(t)
	t.Setenv("BNCTL_REATTACH_DEVICES", "mine="+line)
	d := open(t, attach(t))
	x := load(t, d, regression(t))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_, err := x.Run(context.Background(), step(1, 2))
	if !errors.Is(err, device.Lost) || !strings.Contains(err.Error(), "which bnctl did not start, is gone") {
		t.Errorf("run on a plugin that went away: %v", err)
	}
	t.Setenv("BNCTL_REATTACH_DEVICES", "mine=1|1|unix|/nowhere|grpc|")
	found, err := remote.Find()
	if err != nil || len(found) != 1 {
		t.Fatalf("Find() = %+v, %v", found, err)
	}
	c, err := found[0].Command(false)
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = 2 * time.Second
	if _, err := remote.Start(context.Background(), c); !errors.Is(err, device.Unavailable) {
		t.Errorf("a greeting of nobody: %v", err)
	}
}
