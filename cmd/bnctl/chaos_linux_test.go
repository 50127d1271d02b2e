package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/shareddata"
)

// ordeal states which failures happen to a run, which has to survive them.
type ordeal struct {
	recipe             []string // flags of train
	devices            string
	steps              int
	kills, stops, ends int // devices killed, devices stopped, hosts killed
	dawns              int // number of devices that are killed while a run starts
	rests              int // number of hosts that are stopped for some time
	timeout            time.Duration
	seed               uint64
}

// TestChaos kills and stops devices and the host of a run at random times. The host is the process of bnctl
// train. The template must equal the template of an undisturbed run on one device, and no process or file may
// be left over. With BNCTL_CHAOS=full this is the long test of make chaos.
func TestChaos(t *testing.T) {
	o := ordeal{devices: "3xcpu", steps: 40, kills: 6, stops: 1, ends: 1, dawns: 4, rests: 1, timeout: 3 * time.Second, seed: 1,
		recipe: []string{"--model", "lenet-bn", "--data", "glyphs:500", "--batch", "32"}}
	if os.Getenv("BNCTL_CHAOS") == "full" {
		archive := shareddata.File(t, "cifar10/cifar10-jpg.tar.gz")
		o = ordeal{devices: "4xcpu", steps: 300, kills: 100, stops: 10, ends: 10, dawns: 33, rests: 5,
			timeout: 3 * time.Second, seed: 1,
			recipe: []string{"--model", "resnet20", "--data", "cifar10:" + archive, "--batch", "32", "--lr", "0.05"}}
	} else if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	c := newChaos(t, o)
	want := c.undisturbed()
	began := time.Now()
	for !c.ended {
		c.host()
	}
	got := c.sum("chaos.bnm")
	t.Logf("%d devices killed, %d of them while a run started, %d stopped and continued later, the host killed "+
		"%d times and stopped %d times; %d devices lost, %d back, %d steps made for %d, the run gave up %d times; "+
		"%.0f s", c.done[killDevice]+c.done[killAtDawn], c.done[killAtDawn], c.done[stopDevice], c.done[killHost],
		c.done[stopHost], c.lost, c.back, c.made, o.steps, c.gaveUp,
		time.Since(began).Seconds())
	t.Logf("sha256 undisturbed %s", want)
	t.Logf("sha256 disturbed   %s", got)
	if got != want {
		t.Error("the template is another one")
	}
	for a, n := range map[deed]int{killDevice: o.kills, stopDevice: o.stops, killHost: o.ends, stopHost: o.rests,
		killAtDawn: min(o.dawns, dawnsOfOne)} {
		if c.done[a] != n { // the run ended before all of them happened
			t.Logf("%s: %d times, planned were %d", a, c.done[a], n)
		}
		if c.done[a] < (n+1)/2 {
			t.Errorf("%s: %d times, want %d", a, c.done[a], n)
		}
	}
	c.nothingLeft()
}

// deed is one kind of failure that the test causes.
type deed string

const (
	killDevice deed = "killing a device"
	stopDevice deed = "stopping a device"
	killHost   deed = "killing the host"
	stopHost   deed = "stopping the host"
	killAtDawn deed = "killing a device while the run starts"
)

// dawnsOfOne is about how many devices are killed while one host starts. dawn is the duration of that start,
// from the start of the host's first device on.
const (
	dawnsOfOne = 3
	dawn       = 400 * time.Millisecond
)

// chaos is a run to which the failures of an ordeal happen.
type chaos struct {
	*testing.T
	ordeal
	program      string // path of a copy of bnctl that only this test runs
	dir          string
	random       *rand.Rand
	plan         [][]deed // failures by step
	done         map[deed]int
	lost, back   int
	made, gaveUp int
	ended        bool
	said         bytes.Buffer // what the host wrote to stderr
}

// newChaos plans the steps at the failures. There are none in the last steps, because a failure that
// is not possible at its step happens one step later.
func newChaos(t *testing.T, o ordeal) *chaos {
	dir, err := os.MkdirTemp("", "chaos") // paths of sockets must be short: t.TempDir is long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &chaos{T: t, ordeal: o, dir: dir, program: filepath.Join(dir, "bnctl"), done: map[deed]int{},
		random: rand.New(rand.NewPCG(o.seed, 0)), plan: make([][]deed, o.steps+2)}
	t.Cleanup(func() {
		if t.Failed() {
			b := c.said.Bytes()
			t.Logf("the last that the host said:\n%s", b[max(len(b)-4000, 0):])
		}
	})
	for _, d := range []struct {
		what deed
		n    int
	}{{killDevice, o.kills}, {stopDevice, o.stops}, {stopHost, o.rests}, {killHost, o.ends}} {
		for range d.n {
			at := 1 + c.random.IntN(o.steps*4/5)
			c.plan[at] = append(c.plan[at], d.what)
		}
	}
	if err := os.Mkdir(c.path("tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.program, b, 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *chaos) path(name string) string { return filepath.Join(c.dir, name) }

// command returns the command bnctl train with the recipe of the test.
func (c *chaos) command(args ...string) *exec.Cmd {
	all := slices.Concat([]string{"train", "--replicas", "8", "--steps", strconv.Itoa(c.steps), "--json",
		"--log-every", "1"}, c.recipe, args)
	cmd := exec.Command(c.program, all...)
	cmd.Dir, cmd.Stderr = c.dir, &c.said
	cmd.Env = append(os.Environ(), "TMPDIR="+c.path("tmp"))
	return cmd
}

// undisturbed trains on one device without failures, and returns the path of the template.
func (c *chaos) undisturbed() string {
	out, err := c.command("--devices", "cpu", "-o", c.path("alone.bnm")).Output()
	if err != nil {
		c.Fatalf("the undisturbed run: %v\n%s", err, out)
	}
	return c.sum("alone.bnm")
}

func (c *chaos) sum(name string) string {
	b, err := os.ReadFile(c.path(name))
	if err != nil {
		c.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// host runs bnctl until it ends by itself or is killed.
func (c *chaos) host() {
	cmd := c.command("--devices", c.devices, "--device-timeout", fmt.Sprint(c.timeout.Seconds()),
		"--checkpoint", c.path("chaos.bnc"), "--checkpoint-every", "7", "--resume", "auto", "-o",
		c.path("chaos.bnm"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	killed, dawnIsOver := false, make(chan struct{})
	go func() {
		defer close(dawnIsOver)
		c.atDawn(cmd.Process.Pid)
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e struct {
			Event string
			Step  int
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			c.Logf("%q: %v", lines.Text(), err)
			continue
		}
		switch e.Event {
		case "device_lost":
			c.lost++
		case "device_back":
			c.back++
		case "done":
			c.ended = true
		case "step":
			c.made++
			killed = c.act(cmd, e.Step) || killed
		}
	}
	<-dawnIsOver
	err = cmd.Wait()
	switch {
	case c.ended && err != nil && !killed: // it may be killed after its last line of output, before it ends
		c.Fatalf("the run ended with %v", err)
	case !c.ended && !killed:
		if c.gaveUp++; c.gaveUp > 3 {
			c.Fatalf("the run gives up by itself, again and again: %v", err)
		}
	}
	c.orphans(cmd.Process.Pid)
}

// atDawn kills devices of a host that is starting. The first is killed within a millisecond of the start of
// the first device.
func (c *chaos) atDawn(host int) {
	random := rand.New(rand.NewPCG(c.seed, uint64(c.done[killAtDawn]+1)))
	for began := time.Now(); len(children(host)) == 0 && time.Since(began) < 10*time.Second; {
		time.Sleep(time.Millisecond)
	}
	for began := time.Now(); time.Since(began) < dawn && c.done[killAtDawn] < c.dawns; {
		time.Sleep(time.Duration(random.Int64N(int64(dawn / dawnsOfOne))))
		if d := children(host); len(d) > 0 && syscall.Kill(d[random.IntN(len(d))], syscall.SIGKILL) == nil {
			c.done[killAtDawn]++
		}
	}
}

// act causes the failures that are planned for a step, once. It reports whether the host was killed.
func (c *chaos) act(cmd *exec.Cmd, step int) (killed bool) {
	deeds := c.plan[step]
	c.plan[step] = nil
	for i, d := range deeds {
		time.Sleep(time.Duration(c.random.IntN(60)) * time.Millisecond)
		done := false
		switch d {
		case killHost:
			done = cmd.Process.Kill() == nil
			killed = true
		case killDevice:
			done = c.strike(cmd.Process.Pid, func(pid int) bool { return syscall.Kill(pid, syscall.SIGKILL) == nil })
		case stopHost:
			done = c.suspend(cmd.Process.Pid)
		case stopDevice:
			done = c.strike(cmd.Process.Pid, c.pause)
		}
		if done {
			c.done[d]++
		}
		if killed || !done { // the remaining failures, or those without a device, are done at the next step
			rest := deeds[i:]
			if done {
				rest = deeds[i+1:]
			}
			c.plan[step+1] = append(c.plan[step+1], rest...)
			return killed
		}
	}
	return false
}

// strike calls do with the number of the process of a running device of a host.
func (c *chaos) strike(host int, do func(pid int) bool) bool {
	devices := children(host)
	return len(devices) > 0 && do(devices[c.random.IntN(len(devices))])
}

// pause stops a device, and continues it after a random time. The time may be shorter or longer than the time
// after which the device counts as lost.
func (c *chaos) pause(pid int) bool {
	began := startOf(pid)
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return false
	}
	length := time.Duration(float64(c.timeout) * (0.2 + 1.8*c.random.Float64()))
	go func() {
		time.Sleep(length)
		if startOf(pid) == began { // the number of the process has not been given to another process
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}()
	return true
}

// suspend stops the host, and continues it after a random time. The time may be shorter or longer than the
// time after which the host gives up devices that do not answer.
func (c *chaos) suspend(host int) bool {
	if syscall.Kill(host, syscall.SIGSTOP) != nil {
		return false
	}
	time.Sleep(time.Duration(float64(c.timeout) * (0.5 + 1.5*c.random.Float64())))
	return syscall.Kill(host, syscall.SIGCONT) == nil
}

// orphans checks that the devices of a killed host end soon.
func (c *chaos) orphans(host int) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := c.processes()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("host %d is gone, and its processes %v are there", host, left)
		}
	}
}

// nothingLeft checks that no process, socket or shared memory is left.
func (c *chaos) nothingLeft() {
	if left := c.processes(); len(left) > 0 {
		c.Errorf("processes are left: %v", left)
	}
	for _, dir := range []string{c.path("tmp"), c.dir} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			c.Fatal(err)
		}
		for _, e := range entries {
			if known := []string{"alone.bnc", "alone.bnm", "alone.chain.jsonl", "bnctl", "chaos.bnc",
				"chaos.bnm", "chaos.chain.jsonl", "tmp"}; !slices.Contains(known, e.Name()) {
				c.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
	if left, _ := filepath.Glob("/dev/shm/*bnctl*"); len(left) > 0 {
		c.Errorf("shared memory is left: %v", left)
	}
}

// processes returns the processes that run this test's copy of bnctl.
func (c *chaos) processes() []int {
	return processes(func(pid int) bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && strings.HasPrefix(string(b), c.dir) && stateOf(pid) != "Z"
	})
}

// children returns the device processes of a host that can be killed or stopped.
func children(host int) []int {
	return processes(func(pid int) bool {
		f := statOf(pid)
		return len(f) > 1 && f[1] == strconv.Itoa(host) && f[0] != "Z" && f[0] != "T"
	})
}

func processes(is func(pid int) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && is(pid) {
			out = append(out, pid)
		}
	}
	return out
}

// statOf returns the fields of /proc/PID/stat from the field state on, or nil without this process.
func statOf(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	text := string(b)
	return strings.Fields(text[strings.LastIndex(text, ")")+1:])
}

func stateOf(pid int) string {
	if f := statOf(pid); len(f) > 0 {
		return f[0]
	}
	return ""
}

// startOf returns when a process was started, in clock ticks, or "" without this process.
func startOf(pid int) string {
	if f := statOf(pid); len(f) > 19 {
		return f[19]
	}
	return ""
}
