package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// peer is another program that stays loaded and measures what it is asked to:
// a line of JSON in, a line of JSON out.
type peer struct {
	about string // "PyTorch 1.13.0"
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
}

// ask has the peer that these words start answer one question.
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
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	return p.read(answer)
}

func start(env, words []string) (*peer, error) {
	p := &peer{cmd: exec.Command(words[0], words[1:]...)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	var hello struct{ Peer, Version string }
	if err := p.read(&hello); err != nil {
		return nil, err
	}
	p.about = hello.Peer + " " + hello.Version
	return p, nil
}

func (p *peer) read(answer any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s is gone: %w", strings.Join(p.cmd.Args, " "), err)
	}
	return json.Unmarshal(line, answer)
}

func (p *peer) close() {
	p.in.Close()
	p.cmd.Wait()
}

// rate is the answer of both peers.
type rate struct {
	Images float64 `json:"images_per_s"`
}

// onnxRuntime predicts with ONNX Runtime.
func onnxRuntime(model string, batch, threads int) side {
	return side{"ONNX Runtime", func(b *bench) (float64, error) {
		var r rate
		err := b.ask(map[string]any{"model": model, "batch": batch, "threads": threads, "seconds": b.seconds}, &r,
			[]string{"NODE_PATH=" + b.modules}, "node", "scripts/peers/onnxruntime.js", b.models)
		return r.Images, err
	}}
}

// pyTorch trains with PyTorch, or with format "frozen" or "xnnpack" predicts. Its two pools of threads are
// settled when it starts.
func pyTorch(model string, batch, threads int, format string) side {
	return side{"PyTorch " + format, func(b *bench) (float64, error) {
		var r rate
		n := fmt.Sprint(threads)
		err := b.ask(map[string]any{"model": model, "batch": batch, "format": format, "seconds": b.seconds}, &r,
			[]string{"OMP_NUM_THREADS=" + n, "OPENBLAS_NUM_THREADS=" + n, "PYTHONWARNINGS=ignore"},
			b.python, "scripts/peers/pytorch.py", n)
		return r.Images, err
	}}
}
