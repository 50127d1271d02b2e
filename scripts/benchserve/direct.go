package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
)

// direct returns the images per second of bnctl bench, with its device on the core that the server's device
// uses.
func (b *bench) direct(path string, n network, flags ...string) (float64, error) {
	args := append([]string{"bench", path, "--json", "--quiet", "--batch", strconv.Itoa(n.batch), "--seconds",
		fmt.Sprint(b.turn.Seconds())}, flags...)
	cmd := exec.CommandContext(b.ctx, b.bnctl, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = b.pin(cmd.Process.Pid)
	}
	if err != nil {
		return 0, err
	}
	var e struct {
		Rate float64 `json:"images_per_s"`
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return 0, err
		}
	}
	return e.Rate, cmd.Wait()
}
