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

// demo runs bnctl commands in separate processes, as a user would who pastes their lines into a shell, and
// reads their events.
type demo struct {
	ctx context.Context
	Options
	folder  string
	began   time.Time
	result  Result
	differs string // description of an unexpected difference
	loss    float64
}

// event holds the fields that the demo reads of the events of its commands.
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

// say prints a line about the current step.
func (d *demo) say(format string, args ...any) {
	if d.Say != nil {
		d.Say(format, args...)
	}
}

// command prints a command line, runs it, and shows its events to see.
func (d *demo) command(see func(event), args ...string) error {
	return d.exitsWith(0, see, args...)
}

// exitsWith runs a command that must end with an exit code.
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

// watch reads the events of a command and passes them to see, except the many events of predictions.
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

// drain reads the rest, so that the command does not wait for its reader.
func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// same records the first result that is not the expected one. The result has the description what.
func (d *demo) same(what string, is bool) {
	if !is && d.differs == "" {
		d.differs = what
	}
	d.result.SameBits = d.differs == ""
}
