package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// server is a running server.
type server struct {
	cmd        *exec.Cmd
	http, grpc string // addresses; grpc may be ""
	url        string // URL for inference requests
}

// serve starts bnctl serve with the model, and moves its device to the device's core. The server's standard
// error is written to output, unless output is nil.
func (b *bench) serve(path string, n network, output io.Writer, flags ...string) (*server, error) {
	args := append([]string{"serve", path, "--json", "--quiet", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
		"--max-batch", strconv.Itoa(n.batch)}, flags...)
	args = append(args, strings.Fields(b.flags)...)
	s, line, err := b.start(output, nil, b.bnctl, args...)
	if err != nil {
		return nil, err
	}
	var said struct{ HTTP, GRPC string }
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, fmt.Errorf("bnctl serve said %q: %w", line, err)
	}
	s.http, s.grpc, s.url = said.HTTP, said.GRPC, "/v2/models/"+n.name+"/infer"
	return s, b.pin(s.cmd.Process.Pid)
}

// start starts a program and returns the first line that it prints.
func (b *bench) start(output io.Writer, env []string, name string, args ...string) (*server, []byte, error) {
	var said bytes.Buffer
	if output == nil {
		output = &said
	}
	s := &server{cmd: exec.CommandContext(b.ctx, name, args...)}
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), env...), output
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		s.close()
		return nil, nil, fmt.Errorf("%s ended at once: %s", name, &said)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return s, line, nil
}

func (s *server) close() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // the exit status does not matter
}

// pin moves the child processes of a process, which are the devices, to the device's core.
func (b *bench) pin(parent int) error {
	if b.device < 0 {
		return nil
	}
	var core unix.CPUSet
	core.Set(b.device)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		devices := family(parent)[1:]
		for _, p := range devices {
			threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p))
			for _, t := range threads {
				id, _ := strconv.Atoi(filepath.Base(t))
				if err := unix.SchedSetaffinity(id, &core); err != nil && err != unix.ESRCH {
					return err
				}
			}
		}
		if len(devices) > 0 {
			return nil
		}
	}
	return fmt.Errorf("process %d has no device", parent)
}

// family returns a process and its descendants.
func family(process int) []int {
	all := []int{process}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(process) {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			all = append(all, id)
		}
	}
	return all
}

// memory returns the sum of the proportional set sizes of a server and its devices, in MiB.
func (s *server) memory() (mib float64) {
	for _, p := range family(s.cmd.Process.Pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		for line := range strings.Lines(string(text)) {
			if size, ok := strings.CutPrefix(line, "Pss:"); ok {
				kib, _ := strconv.ParseFloat(strings.Fields(size)[0], 64)
				mib += kib / 1024
			}
		}
	}
	return mib
}

func withOutput(err error, out []byte) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, out)
}
