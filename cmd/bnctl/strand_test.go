package main

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/rogpeppe/go-internal/testscript"
)

// strand implements the command "strand ARGS...". It runs bnctl with the device frail: a CPU plugin that is
// killed after the first step, and then dies at every start. The run must give up and exit with code 1.
func strand(ts *testscript.TestScript, _ bool, args []string) {
	plugin, broken := ts.MkAbs("bnctl-device-frail"), ts.MkAbs("broken")
	text := fmt.Sprintf("#!/bin/sh\ntest -e '%s' && { echo no more >&2; exit 7; }\nexec bnctl serve-device "+
		"cpu\n", broken)
	ts.Check(os.WriteFile(plugin, []byte(text), 0o755))
	process, lost := 0, 0
	args = append(args, "--devices", "frail", "--device-plugin", plugin, "--allow-unlocked", "--log-every", "1")
	code := running(ts, args, func(_ *exec.Cmd, e runEvent) {
		switch {
		case e.Event == "device":
			process = e.Process
		case e.Event == "step" && lost == 0:
			ts.Check(os.WriteFile(broken, nil, 0o666))
			p, err := os.FindProcess(process)
			ts.Check(err)
			ts.Check(p.Kill())
			lost++
		}
	})
	ts.Check(os.Remove(broken))
	if code != 1 || lost == 0 {
		ts.Fatalf("exit code %d, killed %d times", code, lost)
	}
}
