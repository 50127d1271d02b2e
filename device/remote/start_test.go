package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// TestStartSaysWhatIsWrong starts programs that are not valid plugins.
func TestStartSaysWhatIsWrong(t *testing.T) {
	script := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho boom >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(c remote.Command, change func(*remote.Command)) remote.Command {
		change(&c)
		return c
	}
	tests := []struct {
		name    string
		command remote.Command
		want    []string
	}{
		{"dies", plugin("dies"), []string{"plugin dies: start", "exit status 7", "no such luck"}},
		{"script", remote.Command{Name: "sh", Path: script}, []string{"exit status 3", "boom"}},
		{"silent", plugin("silent"), []string{"has not greeted within 3s"}},
		{"garbage", plugin("garbage"), []string{`"Hello, world!"`, "no greeting"}},
		{"version", plugin("version"), []string{"speaks version 7", "speaks 1"}},
		{"netrpc", plugin("netrpc"), []string{`speaks "netrpc"`}},
		{"deaf", plugin("deaf"), []string{"does not answer within 3s"}},
		{"wordy", plugin("wordy"), []string{"it describes itself with 5006 bytes, want at most 4096"}},
		{"missing", remote.Command{Name: "x", Path: "/nowhere/x"}, []string{"/nowhere/x", "no such file"}},
		{"plain file", remote.Command{Name: "x", Path: plain}, []string{"is not an executable file"}},
		{"changed", with(plugin("ref"), func(c *remote.Command) { c.SHA256 = strings.Repeat("ab", 32) }),
			[]string{"has the sum", "abababababab", "add it again"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.command.Timeout = patience
			if strings.Contains(test.want[0], "within") {
				test.command.Timeout = 3 * time.Second // short, because the test waits for the whole timeout
			}
			began := time.Now()
			p, err := remote.Start(context.Background(), test.command)
			if err == nil {
				p.Close()
				t.Fatal("it started")
			}
			if !errors.Is(err, device.Unavailable) {
				t.Errorf("%v is of kind %v, want %v", err, device.KindOf(err), device.Unavailable)
			}
			for _, w := range test.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
			if d := time.Since(began); d > patience {
				t.Errorf("it took %v to say so", d)
			}
		})
	}
}

// TestSlowStart checks that a slow start is reported once while it is in progress.
func TestSlowStart(t *testing.T) {
	c, said := plugin("silent"), make(chan string, 9)
	c.Timeout, c.Slow = 3*time.Second, func(text string) { said <- text }
	began := time.Now()
	stopped := make(chan error, 1)
	go func() {
		_, err := remote.Start(t.Context(), c)
		stopped <- err
	}()
	const want = "is slow to start: no answer for 500ms, waiting for up to 3s"
	if text := <-said; !strings.Contains(text, want) || time.Since(began) < c.Timeout/6 {
		t.Errorf("after %v: %q, want %q", time.Since(began), text, want)
	}
	if err := <-stopped; !errors.Is(err, device.Unavailable) || len(said) > 0 {
		t.Errorf("%v, and %d more messages", err, len(said))
	}
}

// TestOpenTakesTooLong checks that a device that does not open is unavailable and that the
// error gives the remedy. A caller that cancels gets an error of kind Canceled.
func TestOpenTakesTooLong(t *testing.T) {
	c := plugin("asleep")
	c.Timeout, c.OpenTimeout = patience, 100*time.Millisecond
	p, err := remote.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.Open(t.Context(), device.DefaultID, device.Options{})
	const want = "did not open within 100ms; try again"
	if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v (%v), want that it is unavailable", err, device.KindOf(err))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Open(ctx, device.DefaultID, device.Options{}); !errors.Is(err, device.Canceled) {
		t.Errorf("%v (%v), want that it is canceled", err, device.KindOf(err))
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	c := plugin("silent")
	c.Timeout = 10 * patience
	began := time.Now()
	if _, err := remote.Start(ctx, c); err == nil {
		t.Fatal("a silent plugin started")
	}
	if d := time.Since(began); d > patience {
		t.Errorf("Start returned %v after its context had ended", d)
	}
}

func TestListAndDescribe(t *testing.T) {
	p := start(t, "ref")
	if got := p.Describe(); got.Name != "ref" || got.About == "" {
		t.Errorf("Describe() = %+v", got)
	}
	for range 2 { // the second call uses the same process
		list, reason, err := p.List(context.Background())
		if err != nil || len(list) != 1 || list[0].ID != device.DefaultID || len(list[0].Ops) < 50 {
			t.Errorf("List() = %v, %q, %v", list, reason, err)
		}
	}
	_, err := p.Open(context.Background(), "17", device.Options{})
	if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), `no device "17"`) {
		t.Errorf("Open of a device that is not there: %v", err)
	}
}

// TestPluginThatPrints opens a device with a library that prints to standard output long
// after the handshake.
func TestPluginThatPrints(t *testing.T) {
	c := plugin("chatty")
	heard := make(chan string, 1)
	c.Printed = func(line string) {
		select {
		case heard <- line:
		default:
		}
	}
	p, err := remote.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := open(t, p)
	if _, err := load(t, d, regression(t)).Run(context.Background(), step(1, 2)); err != nil {
		t.Error(err)
	}
	select {
	case <-heard:
	case <-time.After(patience):
		t.Error("nothing is heard of what the plugin prints")
	}
}

// TestDescribe runs BINARY describe, and the binary without arguments, as a user may.
func TestDescribe(t *testing.T) {
	c := plugin("cpu")
	run := exec.Command(c.Path, "describe")
	run.Env = append(os.Environ(), c.Env...)
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name     string
		Protocol int
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Name != "cpu" || got.Protocol != device.ProtocolV1 {
		t.Errorf("describe prints %s: %+v, %v", out, got, err)
	}
	run = exec.Command(c.Path)
	run.Env = append(os.Environ(), c.Env...)
	out, err = run.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `is the device plugin "cpu"`) {
		t.Errorf("started by nobody, it prints %s: %v", out, err)
	}
}
