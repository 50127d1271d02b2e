package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bnctl/bnctl/bn"
)

// demo runs bnctl commands in separate processes, as if a user pasted the command lines into a shell, and
// reads the events that they print.
type demo struct {
	ctx context.Context
	Options
	folder  string
	began   time.Time
	result  Result
	differs string // description of a result that differs from the expected one
	loss    float64
}

// event has those fields of the commands' events that the demo reads.
type event struct {
	Event   string            `json:"event"`
	Name    string            `json:"name"`
	Process int               `json:"process"`
	Total   int               `json:"total_steps"`
	Step    int               `json:"step"`
	Epoch   int               `json:"epoch"`
	Loss    float64           `json:"val_loss"`
	Right   float64           `json:"val_accuracy"`
	Device  string            `json:"device"`
	MovedTo []string          `json:"moved_to"`
	SHA256  string            `json:"sha256"`
	Removed json.RawMessage   `json:"removed"`
	Outputs map[string]values `json:"outputs"`
	Top     []class           `json:"top"`
	Found   []bn.Finding      `json:"findings"`
}

type values struct {
	Data []float32 `json:"data"`
}

type class struct {
	Label string  `json:"label"`
	P     float32 `json:"p"`
}

// say prints a line about the current step of the demo.
func (d *demo) say(format string, args ...any) {
	if d.Say != nil {
		d.Say(format, args...)
	}
}

// command prints a command line, runs it, and calls see with each of its events.
func (d *demo) command(see func(event), args ...string) error {
	return d.exitsWith(0, see, args...)
}

// exitsWith is like command, but the command must end with the given exit code.
func (d *demo) exitsWith(code int, see func(event), args ...string) error {
	d.say("$ bnctl %s", strings.Join(args, " "))
	cmd := exec.CommandContext(d.ctx, d.Program, append(slices.Clone(args), "--json")...)
	cmd.Args[0] = "bnctl"
	cmd.Dir = d.folder
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = d.watch(stdout, see)
	if waitErr := cmd.Wait(); d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	} else if got := cmd.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("demo: bnctl %s: exit code %d, want %d (%v):\n%s", args[0], got, code, waitErr,
			strings.TrimSpace(stderr.String()))
	}
	return err
}

// watch reads the events of a command and calls see with each, except with the many events of predictions.
func (d *demo) watch(r io.Reader, see func(event)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return errors.Join(err, drain(r))
		}
		if d.Line != nil && e.Event != "predict" {
			d.Line(lines.Text())
		}
		see(e)
	}
	return lines.Err()
}

// drain reads the rest of a command's output, so that the command does not wait for a reader.
func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// checkSame checks that a result is equal in all runs. It records the description of the first result that
// is not.
func (d *demo) checkSame(description string, equal bool) {
	if !equal && d.differs == "" {
		d.differs = description
	}
	d.result.SameBits = d.differs == ""
}
