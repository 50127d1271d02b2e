package server

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/models"
)

// heldLimit is the memory limit of the server in bytes. heldMore is what a peer can make it use beyond the
// limit, for garbage that Go has not collected yet, and for memory that is in use for a moment.
const (
	heldLimit = 64 << 20
	heldMore  = 64 << 20
)

// victim is a server in a separate process.
type victim struct {
	HTTP, GRPC string
	pid        int
	sealed     bool // the connection uses TLS
	t          *testing.T
}

// newVictim starts a server for a model in a separate process. The process runs this test program, or the
// bnctl binary that BNCTL_HELD names.
func newVictim(t *testing.T, path string, sealed bool) *victim {
	t.Helper()
	cmd, files := exec.Command(os.Args[0]), []string{path}
	if sealed {
		cert, key, _ := certificate(t, time.Now().Add(time.Hour))
		files = append(files, cert, key)
	}
	if bnctl := os.Getenv("BNCTL_HELD"); bnctl != "" {
		cmd = exec.Command(bnctl, "serve", path, "--json", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
			"--threads", "1", "--max-inflight-mb", fmt.Sprint(heldLimit>>20))
		if sealed {
			cmd.Args = append(cmd.Args, "--tls-cert", files[1], "--tls-key", files[2])
		}
	}
	cmd.Env = append(os.Environ(), servesHere+"="+strings.Join(files, "\n"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Wait()
	})
	v := &victim{t: t, pid: cmd.Process.Pid, sealed: sealed}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// memory returns the number in the line name of the status of the process (proc(5)), in bytes.
func (v *victim) memory(name string) int64 {
	v.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.pid))
	_, rest, found := strings.Cut(string(status), name+":")
	var kib int64
	if err == nil && found {
		_, err = fmt.Sscan(rest, &kib)
	}
	if err != nil || !found {
		v.t.Fatalf("the server has ended: %v", err)
	}
	return kib << 10
}

// connect makes a connection that is closed at the end of the test. It returns nil if the server
// refuses the connection.
func (v *victim) connect(address string) net.Conn {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil
	}
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	_ = c.SetDeadline(time.Now().Add(8 * time.Second))
	v.t.Cleanup(func() { c.Close() })
	if v.sealed {
		return tls.Client(c, unverified("http/1.1"))
	}
	return c
}

// unverified returns a TLS configuration for a protocol that accepts any certificate.
func unverified(protocol string) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
}

// answers reports whether the server answers a request now.
func (v *victim) answers() bool {
	c := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: unverified("http/1.1")}}
	scheme := "http"
	if v.sealed {
		scheme = "https"
	}
	r, err := c.Get(scheme + "://" + v.HTTP + "/v2/models/m")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// watched reports whether this program was built with the race detector.
func watched() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestHeld checks that the server uses at most its memory limit, whatever a peer sends or does not read, and
// that it answers the next request. The results are in docs/results/repairs.md:
//
//	go test ./server -run TestHeld -v
//	BNCTL_HELD=/path/to/bnctl go test ./server -run TestHeld -v   # tests another build
func TestHeld(t *testing.T) {
	if testing.Short() || watched() {
		t.Skip("short, or watched by the race detector, which takes several times the memory")
	}
	m, err := models.Build("mlp-bn", models.Options{Classes: 6144}) // an answer has 24 KiB for each row
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Preprocess.Known = true
	path := write(t, m, "m.bnm")
	table := []string{"way | protocol | limit | peak"}
	for _, w := range waysToHold() {
		t.Run(w.name+"/"+w.protocol, func(t *testing.T) {
			v := newVictim(t, path, w.protocol == "HTTPS" || w.protocol == "HTTP/2")
			rest := v.memory("VmRSS")
			if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", v.pid), []byte("5"), 0); err != nil {
				t.Skip("this kernel does not begin a new peak:", err)
			}
			w.attack(v)
			time.Sleep(300 * time.Millisecond)
			peak := v.memory("VmHWM") - rest
			table = append(table, fmt.Sprintf("%s | %s | %d MiB | %d MiB", w.name, w.protocol, heldLimit>>20, peak>>20))
			if peak > heldLimit+heldMore {
				t.Errorf("%d MiB, of %d that it may hold", peak>>20, heldLimit>>20)
			}
			until(t, "an answer for another", v.answers)
		})
	}
	t.Logf("what a peer makes the server hold\n%s", strings.Join(table, "\n"))
}
