package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// serving implements the command "serving ARGS...". It starts bnctl serve on free ports, and sets $HTTP to
// its address. At the end of the script the server is stopped. It must exit with code 0, which means that it
// has answered every accepted request.
func serving(ts *testscript.TestScript, _ bool, args []string) {
	args = append([]string{"serve", "--json", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"}, args...)
	cmd := exec.Command("bnctl", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = ts.Getenv("WORK"), append(os.Environ(), "HOME="+ts.Getenv("WORK")), os.Stderr
	cmd.Env = append(cmd.Env, storeEnvironment(ts)...)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if got := codeOf(ts, cmd.Wait()); got != exitDone {
			ts.Fatalf("serve ended with exit code %d", got)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	ts.Check(err)
	var e struct{ HTTP string }
	ts.Check(json.Unmarshal(line, &e))
	ts.Setenv("HTTP", e.HTTP)
}

// request implements the command "request STATUS PATH [BODY [HEADER: VALUE]...]". It sends a request to the
// server of the command serving, and fails unless the answer has this status. The answer is stored in the
// file reply. Without a body, or with "-", the request is a GET.
func request(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	method, body := http.MethodGet, []byte(nil)
	if len(args) > 2 && args[2] != "-" {
		method, body = http.MethodPost, []byte(ts.ReadFile(args[2]))
	}
	r, err := http.NewRequest(method, "http://"+ts.Getenv("HTTP")+args[1], bytes.NewReader(body))
	ts.Check(err)
	for _, h := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	ts.Check(errors.Join(err, os.WriteFile(ts.MkAbs("reply"), text, 0o666)))
	if answer.StatusCode != want {
		ts.Fatalf("%s: %s", answer.Status, text)
	}
	ts.Logf("%s", fmt.Sprintf("%.2000s", text))
}

// ends implements the command "ends N FILE TO". It writes the last N bytes of a file to another file.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	b := ts.ReadFile(args[1])
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(b[max(0, len(b)-n):]), 0o666))
}
