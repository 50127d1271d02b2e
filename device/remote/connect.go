package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/internal/awake"
)

// peer is a plugin process that has greeted and described itself.
//
// It is started as follows (go-plugin's protocol, which device.proto describes):
//
//	host                                        plugin
//	 folder for the socket, pipes, memfd
//	 start, with the cookie in the environment ──>
//	                     <── "1|1|unix|PATH|grpc|"   the greeting, one line on standard output
//	 connect to PATH ────────────────────────────>
//	 Describe ───────────────────────────────────>
//	                     <── name, version, about
//	 remove the folder: the connection needs no name any more
//
// After that the process is idle (plugin.go) until a device is opened in it.
type peer struct {
	command *Command
	process *process
	client  *plugin.Client
	line    *grpc.ClientConn // over the socket
	rpc     pb.DeviceClient
	folder  *folder     // folder of its socket
	segment *os.File    // memory that its session may share; nil if there is none
	bell    [2]*os.File // wakes this process: the read and write ends of a pipe; nil without shared memory
	noShm   string      // why there is no shared memory
	info    device.Plugin
}

// maxInfo is the maximum length of names and descriptions, in bytes.
const maxInfo = 4 << 10

// exitTimeout is the time to wait for a process to end after its connection broke: its exit
// status explains more than the broken connection.
const exitTimeout = 100 * time.Millisecond

// connect starts a process of the plugin. The error describes how the process failed to become a plugin.
// Its kind is Lost if the process was killed, and Canceled if the context caller ended.
func connect(caller context.Context, c *Command, b *binary) (*peer, error) {
	ctx, cancel := awake.WithTimeout(caller, c.timeout())
	defer cancel()
	defer c.watch()()
	p := &peer{command: c}
	if err := p.prepare(b); err != nil {
		p.end()
		return nil, c.fail("start", device.Unavailable, "%w", err)
	}
	stop := context.AfterFunc(ctx, p.process.kill)
	defer stop()
	err := p.greet(ctx)
	if err == nil && !stop() { // the time limit was reached at the last moment, and the process was killed
		err = context.Cause(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			p.process.within(exitTimeoutAfter(err))
		}
		p.process.kill()
		if err = p.explain(ctx, err); caller.Err() != nil {
			err = c.fail("start", device.Canceled, "%w", context.Cause(caller))
		}
		p.end()
		return nil, err
	}
	return p, nil
}

// prepare creates pipes, shared memory and the client. It starts nothing.
func (p *peer) prepare(b *binary) (err error) {
	if p.command.Greeting != "" {
		if p.noShm = "it was not started by bnctl and inherits no memory"; p.command.TLS != nil {
			p.noShm = "it is on another machine"
		}
		p.process, err = newAttached(p.command, newOutput(p.command.Log))
	} else {
		err = p.child(b)
	}
	if err != nil {
		return err
	}
	if p.folder, err = newFolder(); err != nil {
		return err
	}
	p.client = plugin.NewClient(p.config())
	return nil
}

// child prepares a process of the executable, and the files that it inherits. Their descriptors are
// listed in the comment of type process: the memory of its session, the bell, and then the files of the
// command.
func (p *peer) child(b *binary) (err error) {
	p.segment, p.noShm = newSegment(p.command)
	var inherited []*os.File
	if p.segment != nil {
		if p.bell[0], p.bell[1], err = os.Pipe(); err != nil {
			return err
		}
		inherited = append(inherited, p.segment, p.bell[1])
	}
	inherited = append(inherited, p.command.files...)
	env := environment(os.Environ(), p.command.Env...)
	if p.command.Printed != nil {
		env = append(env, wire.OutputKey+"=1")
	}
	p.process, err = newProcess(b, p.command.Args, env, newOutput(p.command.Log),
		newOutput(p.command.Printed), inherited...)
	return err
}

// newSegment creates the memory that the process inherits. Its pages are reserved when a
// device is opened. If there is no shared memory, newSegment returns nil and the reason;
// the session then runs at level stream/1, and the reason becomes the device's Info.Note.
func newSegment(c *Command) (*os.File, string) {
	if !c.allows(device.Shm) {
		return nil, ""
	}
	f, err := shm.New(shm.Bytes)
	if err != nil {
		return nil, err.Error()
	}
	return f, ""
}

// config restricts go-plugin to the handshake. This package starts the process, sets its
// environment, limits its time and ends it.
func (p *peer) config() *plugin.ClientConfig {
	options := []grpc.DialOption{
		grpc.WithInitialWindowSize(wire.Window),
		grpc.WithInitialConnWindowSize(wire.Window),
		grpc.WithIdleTimeout(0), // no reconnecting after a pause, because the socket has no name any more
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(wire.Codec{})),
		experimental.WithBufferPool(wire.Pool),
	}
	if p.command.TLS != nil {
		options = append(options, grpc.WithContextDialer(p.command.counter.dial(p.command.Name)))
		options = append(options, grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: wire.AliveEvery, Timeout: wire.AliveWithin, PermitWithoutStream: true}))
	}
	return &plugin.ClientConfig{
		TLSConfig: p.command.TLS,
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  wire.Protocol,
			MagicCookieKey:   wire.CookieKey,
			MagicCookieValue: wire.CookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{wire.Protocol: {}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     24 * time.Hour, // the timeout of this package ends the process
		Logger:           hclog.NewNullLogger(),
		SyncStdout:       p.process.greeted.printed, // Go plugins send their os.Stdout with a call
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: p.folder.path},
		GRPCDialOptions:  options,
		RunnerFunc: func(_ hclog.Logger, c *exec.Cmd, _ string) (runner.Runner, error) {
			p.process.cmd.Env = append(p.process.cmd.Env, c.Env...)
			return p.process, nil
		},
	}
}

// greet performs the handshake and requests the plugin's description. ctx bounds all of it: when ctx
// ends, connect kills the process, which ends every wait in greet.
func (p *peer) greet(ctx context.Context) error {
	if _, err := p.client.Start(); err != nil {
		return err
	}
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	p.line = protocol.(*plugin.GRPCClient).Conn
	p.rpc = pb.NewDeviceClient(p.line)
	i, err := p.rpc.Describe(ctx, &pb.DescribeRequest{})
	if err != nil {
		return err
	}
	if p.command.TLS != nil { // the first call has waited for the handshake
		if err := p.command.counter.probe(func(n int) error { return p.send(ctx, n) }); err != nil {
			return err
		}
	}
	p.info = device.Plugin{Name: i.GetName(), Version: i.GetVersion(), About: i.GetAbout()}
	if n := len(p.info.Name + p.info.Version + p.info.About); n > maxInfo {
		return fmt.Errorf("it describes itself with %d bytes, want at most %d", n, maxInfo)
	}
	p.folder.remove() // the connection needs no name any more; so no file remains if either side dies
	return nil
}

// paddingField is the number of a field that no version of DescribeRequest has. Its content is ignored.
const paddingField = 1000

// send makes a call of about n bytes.
func (p *peer) send(ctx context.Context, n int) error {
	in := &pb.DescribeRequest{}
	padding := protowire.AppendTag(nil, paddingField, protowire.BytesType)
	in.ProtoReflect().SetUnknown(protowire.AppendBytes(padding, make([]byte, n)))
	_, err := p.rpc.Describe(ctx, in)
	return err
}

// explain describes why a process did not become a plugin. The description begins with how the process
// ended and its last lines of output, followed by the fault in its greeting and the error of the library.
func (p *peer) explain(ctx context.Context, err error) error {
	c := p.command
	timedOut := ctx.Err() != nil
	if c.TLS != nil {
		return explainMachine(c, timedOut, err)
	}
	p.process.within(time.Second)
	what := p.process.greeted.complaint()
	switch {
	case timedOut && errors.Is(what, errSilent):
		return c.fail("start", device.Unavailable, "%s has not greeted within %v; last words: %s",
			c.Path, c.timeout(), p.process.output.last())
	case timedOut:
		return c.fail("start", device.Unavailable, "%s does not answer within %v: %w", c.Path, c.timeout(),
			plain(err))
	case p.process.killedByOther(): // another attempt may succeed
		return c.fail("start", device.Lost, "%s: %s", c.Path, p.process.howItEnded())
	case errors.Is(what, errSilent):
		return c.fail("start", device.Unavailable, "%s: %s", c.Path, p.process.howItEnded())
	case what != nil:
		return c.fail("start", device.Unavailable, "%s: %w", c.Path, what)
	}
	return c.fail("start", device.Unavailable, "%s: %w", c.Path, plain(err))
}

// end ends the process, if there is one, and everything that belongs to it: folder, client,
// memory and pipes. It may be called at any stage of the start; parts that do not exist yet
// are nil.
func (p *peer) end() {
	if p.process != nil {
		p.process.end()
	}
	if p.folder != nil {
		p.folder.remove()
	}
	switch {
	case p.client != nil && p.command.Greeting == "":
		p.client.Kill()
	case p.line != nil: // not Kill, which would end a process that another program started
		p.line.Close()
	}
	for _, f := range []*os.File{p.segment, p.bell[0], p.bell[1]} {
		if f != nil {
			f.Close()
		}
	}
}
