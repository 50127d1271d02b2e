package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal, and the text that was written to it.
type terminal struct {
	master *os.File
	wait   sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	text bytes.Buffer
	most int // largest number of bytes within a second that belong to frames that are drawn again
}

// openTerminal makes a pseudo-terminal that reports a size.
func openTerminal(t *testing.T, columns, rows uint16) (*terminal, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	unlocked := int32(0)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), syscall.TIOCSPTLCK,
		uintptr(unsafe.Pointer(&unlocked)))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if errno != 0 || err != nil {
		t.Fatal(errno, err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := &terminal{master: master}
	v.resize(t, columns, rows)
	v.wait.Go(v.read)
	t.Cleanup(func() {
		slave.Close()
		master.Close()
		v.wait.Wait()
	})
	return v, slave
}

func (v *terminal) resize(t *testing.T, columns, rows uint16) {
	t.Helper()
	size := &unix.Winsize{Col: columns, Row: rows}
	if err := unix.IoctlSetWinsize(int(v.master.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
}

// lose closes the terminal, as happens when its window is closed.
func (v *terminal) lose(t *testing.T) {
	t.Helper()
	if err := v.master.Close(); err != nil {
		t.Fatal(err)
	}
	v.wait.Wait()
}

// read stores the text written to the terminal, until it is closed.
func (v *terminal) read() {
	began, n := time.Now(), 0
	for b := make([]byte, 64<<10); ; {
		k, err := v.master.Read(b)
		if err != nil {
			return
		}
		if time.Since(began) >= time.Second {
			began, n = time.Now(), 0
		}
		v.mu.Lock()
		v.text.Write(b[:k])
		n += k
		v.most = max(v.most, n)
		v.mu.Unlock()
	}
}

func (v *terminal) written() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text.String()
}

// await waits until a text was written.
func (v *terminal) await(t *testing.T, text string) {
	t.Helper()
	for began := time.Now(); !strings.Contains(v.written(), text); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%q was not written in a minute: %q", text, v.written())
		}
	}
}

// viewed starts a run with a terminal as its stderr. If own is set, the terminal is the controlling terminal
// of the run, so that the run receives a signal when it is closed.
func viewed(t *testing.T, slave io.Writer, samples string, env []string, own bool, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, program, append([]string{"train", "--model", "mlp-bn", "--data", samples,
		"--val", "glyphs:32", "--batch", "8", "--devices", "2xref", "-o",
		filepath.Join(t.TempDir(), "m.bnm")}, args...)...)
	c.Args[0], c.Stderr = "bnctl", slave
	c.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "CI=", "NO_COLOR=")
	c.Env = append(c.Env, env...)
	if own {
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP) // so that the run does not ignore it, as this test may (nohup)
		defer signal.Stop(hangup)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// modes are escape sequences that must not be in the output, because their effect would remain after the run:
// they hide the cursor or select another screen.
var modes = []string{"\x1b[?", "\x1b[2J", "\x1bc"}

// TestView checks that a run is shown on a terminal before its first step, also if the terminal is resized or
// loses its size. Ctrl-C ends the run with exit code 130. The colour of the terminal is then reset, and the
// lines of the run remain.
func TestView(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	v, slave := openTerminal(t, 100, 30)
	c := viewed(t, slave, "glyphs:64", nil, false, "--epochs", "10000")
	v.await(t, "starting")
	v.await(t, "where time goes")
	v.await(t, "\x1b[32mepoch")
	v.resize(t, 60, 24)
	time.Sleep(1200 * time.Millisecond)
	v.resize(t, 0, 0)
	time.Sleep(1200 * time.Millisecond)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitInterrupt {
		t.Errorf("exit code %d: %v", code, err)
	}
	v.await(t, "continue with bnctl train --resume")
	text := v.written()
	for _, want := range []string{"━", "█", "mlp-bn", "epoch 1: train loss", "\x1b[32m", "Ctrl-C: finishing"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q was not written", want)
		}
	}
	endsClean(t, text)
}

// endsClean checks that the run has left the terminal as it was before.
func endsClean(t *testing.T, text string) {
	t.Helper()
	for _, mode := range modes {
		if strings.Contains(text, mode) {
			t.Errorf("%q was written, which changes the terminal", mode)
		}
	}
	if i := strings.LastIndex(text, "m"); strings.Contains(text, "\x1b[3") &&
		strings.LastIndex(text, "\x1b[m") < strings.LastIndex(text, "\x1b[3") {
		t.Errorf("a colour is left: %q", text[max(i-40, 0):])
	}
	if !strings.HasSuffix(text, "\n") {
		t.Errorf("the cursor is left in a line: %q", text[max(len(text)-80, 0):])
	}
}

// TestViewIsSparing checks that at most 4 KB per second are drawn, without the lines that remain on the
// terminal.
func TestViewIsSparing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	v, slave := openTerminal(t, 200, 50)
	c := viewed(t, slave, "glyphs:6000", nil, false, "--steps", "100000") // no epoch ends meanwhile
	v.await(t, "where time goes")
	time.Sleep(1200 * time.Millisecond) // until the lines above the view are printed
	v.mu.Lock()
	v.most = 0
	v.mu.Unlock()
	time.Sleep(3 * time.Second)
	v.mu.Lock()
	most := v.most
	v.mu.Unlock()
	if err := c.Process.Kill(); err != nil { // a run that is killed leaves nothing to restore
		t.Fatal(err)
	}
	_ = c.Wait()
	t.Logf("at most %d bytes in a second", most)
	if most > 4096 {
		t.Errorf("%d bytes were written in a second", most)
	}
	for _, mode := range modes {
		if strings.Contains(v.written(), mode) {
			t.Errorf("%q was written, which changes the terminal", mode)
		}
	}
}

// TestTerminalThatIsLost checks a run that loses its terminal. If the run receives no signal, for example
// because it was started in another session, it continues. If the terminal is its controlling terminal, the
// run is stopped as by SIGTERM, and writes a checkpoint.
func TestTerminalThatIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	for epochs, own := range map[string]bool{"8": false, "10000": true} {
		t.Run(epochs+" epochs", func(t *testing.T) {
			t.Parallel()
			v, slave := openTerminal(t, 100, 30)
			logs := t.TempDir()
			run := viewed(t, slave, "glyphs:64", nil, own, "--epochs", epochs, "--log-dir", logs)
			v.await(t, "where time goes")
			slave.Close()
			v.lose(t)
			err := run.Wait()
			output := run.Args[slices.Index(run.Args, "-o")+1]
			_, finished := os.Stat(output)
			_, saved := os.Stat(strings.TrimSuffix(output, ".bnm") + ".bnc")
			_, page := os.Stat(filepath.Join(logs, "report.html"))
			if code := run.ProcessState.ExitCode(); page != nil || saved != nil ||
				own && (code != exitTerminated || finished == nil) || !own && (code != 0 || finished != nil) {
				t.Errorf("exit code %d, %v; template %v, checkpoint %v, page %v", code, err, finished, saved, page)
			}
		})
	}
}

// TestViewOff checks that there is no view on a small terminal, on a dumb one, in CI and with --view=false,
// and that --view forces one.
func TestViewOff(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	for name, c := range map[string]struct {
		columns, rows uint16
		env, args     []string
		view, drawn   bool
	}{
		"small":     {79, 24, nil, nil, false, true},
		"CI":        {80, 24, []string{"CI=true"}, nil, false, true},
		"off":       {80, 24, nil, []string{"--view=false"}, false, true},
		"dumb":      {80, 24, []string{"TERM=dumb"}, nil, false, false},
		"asked for": {40, 10, []string{"CI=true"}, []string{"--view"}, true, true},
		"plain":     {80, 24, []string{"LC_ALL=C"}, nil, true, true},
		"1x1":       {1, 1, nil, []string{"--view"}, false, false},
		"wide":      {10000, 50, nil, nil, true, true},
		"huge":      {65535, 65535, nil, nil, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, slave := openTerminal(t, c.columns, c.rows)
			run := viewed(t, slave, "glyphs:64", c.env, false, append(c.args, "--epochs", "1")...)
			if err := run.Wait(); err != nil {
				t.Fatalf("%v: %s", err, v.written())
			}
			v.await(t, "best epoch 1")
			text := v.written()
			if got := strings.Contains(text, "starting"); got != c.view {
				t.Errorf("a view: %v, want %v: %q", got, c.view, text)
			}
			if got := strings.Contains(text, "\x1b["); got != c.drawn {
				t.Errorf("escapes: %v, want %v: %q", got, c.drawn, text)
			}
			if name == "plain" && strings.ContainsAny(text, "━█▁") {
				t.Errorf("not plain: %q", text)
			}
			endsClean(t, text)
		})
	}
}
