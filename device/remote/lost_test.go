//go:build linux

package remote_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/remote"
)

// TestPluginDiesInARun kills a plugin that waits for its group.
func TestPluginDiesInARun(t *testing.T) {
	for _, level := range levels {
		p := start(t, "ref", level)
		d, err := p.OpenAs(context.Background(), "ref:1", device.DefaultID, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		x := load(t, d, regression(t))
		hub := collective.NewHub(2, 2)
		g := device.Group{Generation: 1, Replicas: [][]int{{0}, {1}}, Exchange: hub.Member(0)}
		if err := d.Join(context.Background(), g); err != nil {
			t.Fatal(err)
		}
		go func() {
			for hub.Missing() == nil {
				time.Sleep(time.Millisecond)
			}
			_ = syscall.Kill(d.Info().Process, syscall.SIGKILL)
		}()
		began := time.Now()
		_, err = x.Run(context.Background(), step(1, 2))
		want := "ref:1: Run train: lost: the plugin process died"
		if !errors.Is(err, device.Lost) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: run on a plugin that was killed: %v", level, err)
		}
		if d := time.Since(began); d > patience {
			t.Errorf("%s: it took %v to notice", level, d)
		}
		if _, err := x.Read(context.Background(), "w"); !errors.Is(err, device.Lost) {
			t.Errorf("%s: Read from a lost device: %v", level, err)
		}
		if err := x.Close(); err != nil {
			t.Errorf("%s: Close of an executable of a lost device: %v", level, err)
		}
		_ = d.Close() // as a run does before it opens the device again
		if _, err := d.Load(t.Context(), regression(t), device.Capacity{}); !errors.Is(err, device.Lost) {
			t.Errorf("%s: Load of a lost device that was closed: %v", level, err)
		}
		again := open(t, p) // the plugin can still open devices
		load(t, again, regression(t))
		again.Close()
	}
}

// TestCloseOfAStoppedPlugin closes a device while its process is stopped.
func TestCloseOfAStoppedPlugin(t *testing.T) {
	d := open(t, start(t, "ref"))
	x := load(t, d, regression(t))
	if err := syscall.Kill(d.Info().Process, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for state := ""; state != "T"; state, _ = status(d.Info().Process) {
		time.Sleep(time.Millisecond)
	}
	done := make(chan error, 1)
	go func() {
		_, err := x.Run(context.Background(), step(1, 2))
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	began := time.Now()
	d.Close()
	if err := <-done; !errors.Is(err, device.Canceled) {
		t.Errorf("the run that Close ended: %v", err)
	}
	if d := time.Since(began); d > patience {
		t.Errorf("Close took %v", d)
	}
	if got := children(t, os.Getpid()); len(got) > 0 {
		t.Errorf("processes %v are left", got)
	}
}

// TestAPluginThatHearsNothingDiesWithTheHost checks that the kernel ends a plugin that does
// not read its standard input yet.
func TestAPluginThatHearsNothingDiesWithTheHost(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleKey+"=starter", "TMPDIR="+t.TempDir())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var plugins []int
	for began := time.Now(); len(plugins) == 0 && time.Since(began) < patience; {
		time.Sleep(time.Millisecond)
		plugins = children(t, c.Process.Pid)
	}
	time.Sleep(100 * time.Millisecond) // now the plugin sleeps
	_ = c.Process.Kill()
	_ = c.Wait()
	for killed := time.Now(); anyAlive(plugins); time.Sleep(10 * time.Millisecond) {
		if time.Since(killed) > 5*time.Second {
			_ = syscall.Kill(plugins[0], syscall.SIGKILL)
			t.Fatalf("plugins %v outlive their host", plugins)
		}
	}
	if len(plugins) != 1 {
		t.Errorf("the host had plugins %v, want one", plugins)
	}
}

// TestGrandchildren checks that the processes that a plugin has started end with it, even
// in another session, whether the plugin is closed or killed.
func TestGrandchildren(t *testing.T) {
	for _, killed := range []bool{false, true} {
		told := make(chan int, 1)
		c := plugin("parent")
		c.Log = func(line string) {
			var pid int
			if n, _ := fmt.Sscanf(line, "child %d", &pid); n == 1 {
				told <- pid
			}
		}
		p, err := remote.Start(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		d := open(t, p)
		pid := <-told
		if state, _ := status(pid); state == "Z" {
			t.Fatal("the plugin has started nothing")
		}
		if killed {
			_ = syscall.Kill(d.Info().Process, syscall.SIGKILL)
		}
		d.Close()
		state, _ := status(pid)
		for closed := time.Now(); state != "Z" && time.Since(closed) < 2*time.Second; state, _ = status(pid) {
			time.Sleep(time.Millisecond) // the signal is sent, but the kernel may need some time
		}
		if state != "Z" {
			t.Errorf("a plugin was ended, killed: %v, and process %d of it is in state %q", killed, pid, state)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		p.Close()
	}
}

// TestKilledWhileItStarts checks that the error has the kind Lost if a plugin is killed before it
// has greeted, because another attempt may succeed.
func TestKilledWhileItStarts(t *testing.T) {
	go func() {
		for began := time.Now(); time.Since(began) < patience; time.Sleep(time.Millisecond) {
			if c := children(t, os.Getpid()); len(c) > 0 {
				time.Sleep(50 * time.Millisecond)
				_ = syscall.Kill(c[0], syscall.SIGKILL)
				return
			}
		}
	}()
	if _, err := remote.Start(context.Background(), plugin("silent")); !errors.Is(err, device.Lost) {
		t.Errorf("err = %v, want a lost plugin", err)
	}
}

// TestNothingOutlivesTheHost kills a host with SIGKILL and looks for its
// plugins, their sockets and their memory.
func TestNothingOutlivesTheHost(t *testing.T) {
	folder, before := t.TempDir(), sharedFiles()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleKey+"=host", "TMPDIR="+folder)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the host says %q, %v", line, err)
	}
	plugins := children(t, c.Process.Pid)
	if len(plugins) != 4 {
		t.Errorf("the host has processes %v, want 4", plugins)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	killed := time.Now()
	for anyAlive(plugins) {
		if time.Sleep(10 * time.Millisecond); time.Since(killed) > patience {
			t.Fatalf("of the plugins %v some live %v after the host", plugins, patience)
		}
	}
	if left, _ := filepath.Glob(folder + "/*"); len(left) > 0 {
		t.Errorf("files %v are left", left)
	}
	for _, name := range sharedFiles() { // files of other running hosts are permitted
		for !slices.Contains(before, name) && slices.Contains(sharedFiles(), name) {
			if time.Sleep(10 * time.Millisecond); time.Since(killed) > patience {
				t.Fatalf("%s is left", name)
			}
		}
	}
}

// sharedFiles lists the names of shared memory that belong to this program.
func sharedFiles() []string {
	names, _ := filepath.Glob("/dev/shm/bnctl*")
	return names
}

// children returns the living child processes of pid.
func children(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Fatal("no processes in /proc")
	}
	var out []int
	for _, path := range stats {
		var child int
		fmt.Sscanf(path, "/proc/%d/stat", &child)
		if state, parent := status(child); parent == pid && state != "Z" {
			out = append(out, child)
		}
	}
	return out
}

// status returns the state and parent of a process, or "Z" and 0 if it does not exist.
func status(pid int) (state string, parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "Z", 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fmt.Sscan(rest, &state, &parent)
	return state, parent
}

func anyAlive(pids []int) bool {
	return slices.ContainsFunc(pids, func(pid int) bool {
		state, _ := status(pid)
		return state != "Z"
	})
}

// TestNoLeaks opens and closes devices and counts goroutines and descriptors.
func TestNoLeaks(t *testing.T) {
	once := func() {
		for _, level := range levels {
			p, err := remote.Start(context.Background(), plugin("ref", level))
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Open(context.Background(), device.DefaultID, device.Options{})
			if err != nil {
				t.Fatal(err)
			}
			x := load(t, d, regression(t))
			for i := range uint64(20) {
				if _, err := x.Run(context.Background(), step(i, 1, 2)); err != nil {
					t.Fatal(err)
				}
			}
			d.Close()
			p.Close()
		}
		_, _ = remote.Start(context.Background(), plugin("dies"))
	}
	once() // the first call may create resources that stay
	goroutines, files := settle()
	for range 3 {
		once()
	}
	g, f := settle()
	for began := time.Now(); (g > goroutines || f > files) && time.Since(began) < patience; {
		g, f = settle()
	}
	if g > goroutines || f > files {
		b := make([]byte, 1<<16)
		t.Errorf("%d goroutines and %d files, before %d and %d\n%s",
			g, f, goroutines, files, b[:runtime.Stack(b, true)])
	}
}

// settle counts goroutines and open files when the numbers do not fall any more.
func settle() (goroutines, files int) {
	goroutines, files = 1<<30, 1<<30
	for range 20 {
		time.Sleep(20 * time.Millisecond)
		open, _ := os.ReadDir("/proc/self/fd")
		goroutines, files = min(goroutines, runtime.NumGoroutine()), min(files, len(open))
	}
	return goroutines, files
}
