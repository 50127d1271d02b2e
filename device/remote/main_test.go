package remote_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// roleKey is the variable that makes this test binary a plugin. Its value is a key of roles.
const roleKey = "BNCTL_TEST_PLUGIN"

// patience is the time limit for events that happen at once on an idle
// machine.
const patience = 30 * time.Second

// roles are the plugins that this binary can be.
var roles = map[string]func(){
	"ref":      func() { serve.Serve(ref.Provider{}) },
	"main":     func() { serve.Main(ref.Provider{}) },
	"dies":     func() { fmt.Fprintln(os.Stderr, "no such luck"); os.Exit(7) },
	"silent":   func() { time.Sleep(time.Hour) },
	"garbage":  func() { fmt.Println("Hello, world!"); time.Sleep(time.Hour) },
	"version":  func() { fmt.Println("1|7|unix|/nowhere|grpc|"); time.Sleep(time.Hour) },
	"netrpc":   func() { fmt.Println("1|1|unix|/nowhere|netrpc|"); time.Sleep(time.Hour) },
	"cpu":      cpu.Main,
	"chatty":   func() { serve.Serve(chatty{}) },
	"careless": func() { serve.Serve(careless{}) },
	"noshm":    noshm,
	"parts":    func() { serve.Serve(partial{parts: true}) },
	"noparts":  func() { serve.Serve(partial{}) },
	"deaf":     deaf,
	"hangsup":  func() { hangUp(); time.Sleep(time.Hour) },
	"killed":   func() { hangUp(); time.Sleep(400 * time.Millisecond); killSelf() },
	"older":    func() { serve.Serve(older{}) },
	"beside":   func() { serve.Serve(beside{}) },
	"summing":  func() { serve.Serve(summing{}) },
	"spoilt":   func() { serve.Serve(spoilt{}) },
	"rude":     serveRude,
	"fickle":   func() { serve.Serve(fickle{}) },
	"wordy":    func() { serve.Serve(wordy{}) },
	"asleep":   func() { serve.Serve(asleep{}) },
	"host":     host,
	"parent":   parent,
	"starter":  func() { _, _ = remote.Start(context.Background(), plugin("silent")) },
}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(roleKey)]; ok {
		role()
		return
	}
	os.Exit(m.Run())
}

// deaf greets, accepts connections and never answers.
func deaf() {
	path := os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/socket"
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	fmt.Printf("1|1|unix|%s|grpc|\n", path)
	for {
		if _, err := l.Accept(); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	}
}

// hangUp greets and closes the first connection.
func hangUp() {
	path := os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/socket"
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	fmt.Printf("1|1|unix|%s|grpc|\n", path)
	c, err := l.Accept()
	if err != nil {
		panic(err)
	}
	c.Close()
	l.Close()
}

// killSelf kills this process, as another process would.
func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	panic(err)
}

// plugin returns the command that starts this binary as a plugin.
func plugin(role string, levels ...string) remote.Command {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return remote.Command{Name: role, Path: self, Env: []string{roleKey + "=" + role}, Levels: levels}
}

// start starts a plugin of this binary for the length of a test.
func start(t testing.TB, role string, levels ...string) *remote.Plugin {
	t.Helper()
	p, err := remote.Start(context.Background(), plugin(role, levels...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// open opens device 0 of a plugin for the length of a test.
func open(t testing.TB, p *remote.Plugin) device.Device {
	t.Helper()
	d, err := p.Open(context.Background(), device.DefaultID, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// parent serves a device in a process that starts another process in a new session.
func parent() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), roleKey+"=silent")
	ownSession(c)
	if err := c.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, "child", c.Process.Pid)
	serve.Serve(ref.Provider{})
}

// host is the role of a host that opens devices at each level and waits.
func host() {
	for _, level := range levels {
		p, err := remote.Start(context.Background(), plugin("ref", level))
		if err != nil {
			panic(err)
		}
		for range 2 {
			if _, err := p.Open(context.Background(), device.DefaultID, device.Options{}); err != nil {
				panic(err)
			}
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

// asleep is a provider with devices that need longer to open than any caller waits.
type asleep struct{ ref.Provider }

func (asleep) Open(ctx context.Context, _ string, _ device.Options) (device.Device, error) {
	time.Sleep(time.Hour)
	return nil, ctx.Err()
}

// chatty is a provider with a library that prints to file descriptor 1.
type chatty struct{ ref.Provider }

func (c chatty) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	for range 32 { // more bytes than a pipe can hold, in a line longer than any buffer
		if _, err := os.NewFile(1, "stdout").Write(make([]byte, 64<<10)); err != nil {
			return nil, err
		}
	}
	d, err := c.Provider.Open(ctx, id, o)
	return &chattyDevice{d}, err
}

type chattyDevice struct{ device.Device }

func (c *chattyDevice) Load(ctx context.Context, p *graph.Program, n device.Capacity) (
	device.Executable, error) {
	fmt.Println("loading", strings.Repeat("and loading", 64<<10))
	return c.Device.Load(ctx, p, n)
}
