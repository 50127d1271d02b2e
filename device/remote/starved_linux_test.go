package remote

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/problem"
)

// TestEndedForWantOfMemory checks that a killed process counts as ended for lack of memory only if
// the system has killed some process for that reason since the process was started. Other ends do not
// count, and signals of this program do not count.
func TestEndedForWantOfMemory(t *testing.T) {
	if memory.Killed() < 1 {
		t.Skip("the system does not say how many processes it has ended for want of memory")
	}
	for _, c := range []struct {
		signal      syscall.Signal
		mine, since bool
		want        bool
	}{
		{syscall.SIGKILL, false, true, true},
		{syscall.SIGKILL, false, false, false},
		{syscall.SIGSEGV, false, true, false},
		{syscall.SIGKILL, true, true, false},
	} {
		file, err := os.Open("/bin/sleep")
		if err != nil {
			t.Fatal(err)
		}
		sleep := &binary{path: "/bin/sleep", file: file}
		p, err := newProcess(sleep, []string{"60"}, nil, newOutput(nil), newOutput(nil))
		if err == nil {
			err = p.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, p.Stderr())
		if c.since {
			p.mu.Lock()
			p.killed-- // as if the system had killed another process meanwhile
			p.mu.Unlock()
		}
		if c.mine {
			p.signal(c.signal)
		} else if err := syscall.Kill(p.number(), c.signal); err != nil {
			t.Fatal(err)
		}
		broken := &peer{command: &Command{}, process: p}
		err = broken.broken("cpu:1", "Run train", errors.New("the connection is gone"))
		if got := errors.Is(err, device.OutOfMemory); got != c.want || !errors.Is(err, device.Lost) {
			t.Errorf("%+v: %v", c, err)
		}
		text, advice := problem.Split(err)
		if c.want && (!strings.HasPrefix(text, "cpu:1: Run train: lost: out of memory: the system ended the "+
			"plugin process for want of memory: signal: killed") || advice == "") {
			t.Errorf("%q, and to do: %q", text, advice)
		}
		p.end()
	}
}
