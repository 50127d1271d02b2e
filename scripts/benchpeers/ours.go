package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modelFile returns a placeholder, in a command line, for the template of a network that the peers have too.
// bench.file makes the file.
func modelFile(name string) string { return "FILE:" + name }

// bnctlRate returns a function that runs bnctl bench and returns its images per second.
func bnctlRate(args ...string) func(*bench) (float64, error) {
	return func(b *bench) (float64, error) {
		line := []string{"bench", "--seconds", fmt.Sprint(b.seconds)}
		for _, a := range args {
			if name, ok := strings.CutPrefix(a, "FILE:"); ok {
				file, err := b.file(name)
				if err != nil {
					return 0, err
				}
				a = file
			}
			if name, ok := strings.CutPrefix(a, "INT8:"); ok {
				file, err := b.int8(name)
				if err != nil {
					return 0, err
				}
				a = file
			}
			if name, ok := strings.CutPrefix(a, "GRAPH:"); ok {
				a = filepath.Join(b.models, name+".onnx")
			}
			line = append(line, a)
		}
		var e struct {
			Rate float64 `json:"images_per_s"`
		}
		return e.Rate, b.run(&e, line...)
	}
}

// run runs bnctl with --json and decodes each line that it prints into event. If a line does not have a
// field, the value from the line before stays.
func (b *bench) run(event any, args ...string) error {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(b.ctx, b.bnctl, append(args, "--json", "--quiet")...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("bnctl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	for line := range bytes.Lines(bytes.TrimSpace(out.Bytes())) {
		if err := json.Unmarshal(line, event); err != nil {
			return fmt.Errorf("bnctl %s printed %q: %w", strings.Join(args, " "), out.String(), err)
		}
	}
	return nil
}

// file returns the path of a template with the same weights as the peer's model.
func (b *bench) file(name string) (string, error) {
	if f, ok := b.files[name]; ok {
		return f, nil
	}
	if b.files == nil {
		b.files = map[string]string{}
	}
	file := filepath.Join(b.models, name+".bnm")
	if _, err := os.Stat(file); err != nil {
		var ignored struct{}
		err := b.run(&ignored, "strip", filepath.Join(b.models, name+".pth"), "--arch", name, "--preprocess", "raw",
			"-o", file)
		if err != nil {
			return "", err
		}
	}
	b.files[name] = file
	return file, nil
}

// probe has the speed of the machine at one time.
type probe struct {
	Kernels string  `json:"kernels"`
	Gflops  float64 `json:"gflops"`
	GBs     float64 `json:"gb_per_s"`
}

// probe measures the rates that this number of threads reaches now.
func (b *bench) probe(threads int) (p probe, err error) {
	err = b.run(&p, "devices", "bench", "cpu", "--case", "limit", "--threads", fmt.Sprint(threads))
	return p, err
}
