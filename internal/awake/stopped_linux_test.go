package awake

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const (
	roleKey = "BNCTL_TEST_AWAKE"
	wait    = 2 * time.Second
)

// TestMain makes this binary a process that waits, if requested: it prints when the
// system's timer and this package's timer expire.
func TestMain(m *testing.M) {
	if os.Getenv(roleKey) == "" {
		os.Exit(m.Run())
	}
	time.AfterFunc(wait, func() { fmt.Println("system") })
	done := make(chan bool)
	AfterFunc(wait, func() { close(done) })
	fmt.Println("begins") // the reader may stop the process at once
	<-done
	fmt.Println("awake")
}

// TestStoppedProcess stops a process for longer than its wait. After the stop the process waits for the rest
// of the time.
func TestStoppedProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for some seconds")
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleKey+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	lines := bufio.NewScanner(out)
	next := func() string {
		lines.Scan()
		return lines.Text()
	}
	if got := next(); got != "begins" {
		t.Fatalf("the process says %q", got)
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait + wait/2)
	goesOn := time.Now()
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "system" {
		t.Errorf("first comes %q, want the system's timer", got)
	}
	if got := next(); got != "awake" {
		t.Errorf("then comes %q", got)
	}
	if took := time.Since(goesOn); took < wait*3/4 {
		t.Errorf("the wait of %v was over %v after the process went on", wait, took)
	}
}
