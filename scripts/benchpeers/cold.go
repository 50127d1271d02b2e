package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// coldRows compare the time from the start of a process to its first prediction, and the largest memory of
// all its processes together.
func coldRows() []row {
	const model, pixels = "resnet50", 224
	bnctl := func(measure func(*bench, *exec.Cmd) (float64, error)) side {
		return side{"bnctl", func(b *bench) (float64, error) {
			cmd, err := b.coldOurs(model, pixels)
			if err != nil {
				return 0, err
			}
			return measure(b, cmd)
		}}
	}
	theirs := func(measure func(*bench, *exec.Cmd) (float64, error)) []side {
		return []side{{"ONNX Runtime", func(b *bench) (float64,
			error) {
			return measure(b, b.coldTheirs(model, pixels))
		}}}
	}
	return []row{
		{group: "cold", name: model + ", start to first prediction", threads: 2, unit: "s", lowerIsBetter: true,
			must: 2, aim: 4, bnctl: bnctl((*bench).coldTime), theirs: theirs((*bench).coldTime)},
		{group: "cold", name: model + ", summed PSS of all processes", threads: 2, unit: "MiB", lowerIsBetter: true,
			must: 1, aim: 2, bnctl: bnctl((*bench).coldMemory), theirs: theirs((*bench).coldMemory)},
	}
}

// coldOurs returns the command line of bnctl that predicts one image. It names the same device as other rows,
// so that bnctl does not look for devices, because the peer does not do that either.
func (b *bench) coldOurs(model string, pixels int) (*exec.Cmd, error) {
	file, err := b.file(model)
	if err != nil {
		return nil, err
	}
	image := filepath.Join(b.models, model+"_image.npy")
	if _, err := os.Stat(image); err != nil {
		if err := writeImage(image, pixels); err != nil {
			return nil, err
		}
	}
	return exec.CommandContext(b.ctx, b.bnctl, "predict", file, image, "--devices", "cpu", "--logits",
		"--format", "json"), nil
}

// coldTheirs returns the command line of ONNX Runtime that predicts one image.
func (b *bench) coldTheirs(model string, pixels int) *exec.Cmd {
	file := filepath.Join(b.models, model+".onnx")
	cmd := exec.CommandContext(b.ctx, "node", "scripts/peers/cold.js", file, fmt.Sprint(pixels))
	cmd.Env = append(os.Environ(), "NODE_PATH="+b.modules)
	return cmd
}

// coldTime runs cmd and returns its duration in seconds.
func (b *bench) coldTime(cmd *exec.Cmd) (float64, error) {
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w: %s", cmd.Args, err, out)
	}
	return time.Since(began).Seconds(), nil
}

// coldMemory runs cmd and returns its peak memory in MiB: the largest sum of the proportional set sizes of
// the process and all processes below it. It measures the sum every few milliseconds.
func (b *bench) coldMemory(cmd *exec.Cmd) (float64, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	peak := 0.0
	for tick := time.NewTicker(4 * time.Millisecond); ; {
		select {
		case err := <-done:
			tick.Stop()
			return peak, err
		case <-tick.C:
			sum := 0.0
			for _, process := range family(cmd.Process.Pid) {
				sum += pss(process)
			}
			peak = max(peak, sum)
		}
	}
}

// family returns a process and all of its descendants.
func family(process int) []int {
	all := []int{process}
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]int{}
	for _, e := range entries {
		text, err := os.ReadFile(e)
		if err != nil {
			continue // the process has ended
		}
		// The name of the program is in parentheses, and may contain spaces and parentheses itself.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(e)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// pss returns the proportional set size of a process in MiB; 0 if it has ended.
func pss(process int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", process))
	_, after, _ := strings.Cut(string(text), "\nPss:")
	var kib float64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		return 0
	}
	return kib / 1024
}

// writeImage writes one image, u8 [1, side, side, 3], as NumPy does
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
func writeImage(file string, side int) error {
	header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (1, %d, %d, 3), }", side, side)
	header += strings.Repeat(" ", 64-(10+len(header)+1)%64) + "\n"
	out := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	out = append(out, header...)
	for i := range 3 * side * side {
		out = append(out, byte(127+120*math.Sin(float64(i)*0.37)))
	}
	return os.WriteFile(file, out, 0o644)
}
