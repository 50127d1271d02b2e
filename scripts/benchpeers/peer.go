package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// peer is another program that stays loaded and measures on request. It reads a line of JSON for each
// question, and answers with a line of JSON.
type peer struct {
	name  string // name and version, "PyTorch 1.13.0"
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// ask sends one question to the peer that words start, and starts it if necessary. If the peer ends without
// an answer, for example because memory is short, or does not answer in time, it is left out of the row.
func (b *bench) ask(question, answer any, env []string, words ...string) error {
	key := strings.Join(words, " ")
	p := b.peers[key]
	if p == nil {
		var err error
		if p, err = start(env, words); err != nil {
			return err
		}
		b.peers[key] = p
	}
	line, err := json.Marshal(question)
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(b.ctx, b.patience)
	defer done()
	stop := context.AfterFunc(ctx, p.kill)
	if _, err = p.stdin.Write(append(line, '\n')); err == nil {
		err = p.read(answer)
	}
	if stop(); b.ctx.Err() != nil {
		return b.ctx.Err()
	}
	if err != nil { // ends the peer, so that the next question starts it again
		delete(b.peers, key)
		p.kill()
		p.close()
	}
	switch {
	case ctx.Err() != nil:
		return missing{fmt.Sprintf("%s: no answer to %s within %v", p.name, line, b.patience), true}
	case err != nil:
		return missing{fmt.Sprintf("no answer to %s: %v", line, err), false}
	}
	return nil
}

func start(env, words []string) (*peer, error) {
	p := &peer{cmd: exec.Command(words[0], words[1:]...)}
	p.cmd.Env, p.cmd.Stderr = append(environ(), env...), os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to kill it with its children
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	var hello struct{ Peer, Version string }
	if err := p.read(&hello); err != nil {
		return nil, err
	}
	p.name = hello.Peer + " " + hello.Version
	return p, nil
}

// environ returns the environment without the variables that make OpenBLAS use the kernels of another
// processor.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "OPENBLAS_CORETYPE=") || strings.HasPrefix(s, "OPENBLAS_L2_SIZE=")
	})
}

func (p *peer) read(answer any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s is gone: %w", strings.Join(p.cmd.Args, " "), err)
	}
	return json.Unmarshal(line, answer)
}

func (p *peer) kill() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

func (p *peer) close() {
	p.stdin.Close()
	p.cmd.Wait()
}

// rate is the form of all answers of peers.
type rate struct {
	Images float64 `json:"images_per_s"`
	Error  string
}

// missing is the error for a peer that does not have the requested form, or that did not answer in time. Its
// side is left out of the row.
type missing struct {
	why     string
	overdue bool
}

func (m missing) Error() string { return m.why }

func (b *bench) askRate(question map[string]any, env []string, words ...string) (float64, error) {
	var r rate
	if err := b.ask(question, &r, env, words...); err != nil {
		return 0, err
	}
	if r.Error != "" {
		return 0, missing{why: r.Error}
	}
	return r.Images, nil
}

// onnxRuntimes returns the sides that predict with the two ONNX Runtimes, of npm and of Debian 13.
func onnxRuntimes(model string, batch, threads int) []side {
	ask := func(b *bench, more map[string]any, words ...string) (float64, error) {
		question := map[string]any{"model": model, "batch": batch, "threads": threads, "seconds": b.seconds}
		maps.Copy(question, more)
		return b.askRate(question, []string{"NODE_PATH=" + b.modules}, words...)
	}
	return []side{{"ONNX Runtime", func(b *bench) (float64, error) {
		return ask(b, nil, "node", "scripts/peers/onnxruntime.js", b.models)
	}}, {"ONNX Runtime of Debian 13", func(b *bench) (float64, error) {
		enter, err := b.enter()
		if err != nil {
			return 0, err
		}
		if b.isa != "" {
			return 0, missing{why: "it cannot be held to an instruction set"}
		}
		return ask(b, nil, append(enter, "python3", "onnxruntime.py", "/models")...)
	}}}
}

// pyTorch returns the side that trains or predicts with this system's PyTorch, in one of the formats of
// scripts/peers/pytorch.py. The number of threads is fixed when PyTorch starts.
func pyTorch(task, model string, batch, threads int, format string) side {
	return torch("PyTorch "+format, task, model, batch, threads, format, (*bench).system)
}

// newPyTorch returns the side that does the same with the PyTorch of Debian 13.
func newPyTorch(task, model string, batch, threads int, format string) side {
	return torch("PyTorch of Debian 13 "+format, task, model, batch, threads, format, (*bench).newer)
}

// newer returns the command that starts the PyTorch of Debian 13.
func (b *bench) newer() ([]string, error) {
	enter, err := b.enter()
	return append(enter, "python3", "pytorch.py"), err
}

func torch(name, task, model string, batch, threads int, format string,
	started func(*bench) ([]string, error)) side {
	form := fmt.Sprint(name, task, model, batch)
	return side{name, func(b *bench) (float64, error) {
		program, err := started(b)
		if err != nil {
			return 0, err
		}
		if b.overdue[form] { // it was late with another number of threads, and would be late again
			return 0, missing{fmt.Sprintf("%s, batch %d: no answer within %v before", model, batch, b.patience), true}
		}
		n := fmt.Sprint(threads)
		env := []string{"OMP_NUM_THREADS=" + n, "OPENBLAS_NUM_THREADS=" + n, "PYTHONWARNINGS=ignore"}
		rate, err := b.askRate(map[string]any{"model": model, "batch": batch, "task": task, "format": format,
			"seconds": b.seconds}, env, append(program, n)...)
		var none missing
		b.overdue[form] = errors.As(err, &none) && none.overdue
		return rate, err
	}}
}

// system returns the command that starts this system's PyTorch.
func (b *bench) system() ([]string, error) {
	return []string{b.python, "scripts/peers/pytorch.py"}, nil
}

// enter returns the beginning of a command line that runs a program inside Debian 13. The caller appends the
// program and its arguments.
func (b *bench) enter() ([]string, error) {
	if b.debian == "" {
		return nil, missing{why: "there is no Debian 13 (scripts/debian13.sh)"}
	}
	return []string{"sh", "scripts/enter.sh", b.debian}, nil
}
