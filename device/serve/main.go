package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// Main is the main function of a plugin that provides p. It reads the arguments
// of the process and returns when the host has ended the session. `BINARY
// describe` prints the plugin's description; `BINARY debug` serves a host that
// did not start the process, until standard input ends.
func Main(p device.Provider) {
	if !described(p.Describe()) {
		Serve(p)
	}
}

// described handles the arguments of the process that do not start serving. It reports whether the
// process is done.
func described(p device.Plugin) bool {
	if len(os.Args) == 2 && os.Args[1] == "describe" {
		if err := describe(p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return true
	}
	if len(os.Args) == 2 && os.Args[1] == "debug" {
		fmt.Fprintf(os.Stderr, "start bnctl with BNCTL_REATTACH_DEVICES='%s=LINE', where LINE is this:\n", p.Name)
		_ = os.Setenv(wire.CookieKey, wire.CookieValue)
	}
	return false
}

// describe prints the description of a plugin, for `BINARY describe`.
func describe(p device.Plugin) error {
	return json.NewEncoder(os.Stdout).Encode(struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		About    string `json:"about"`
		Protocol int    `json:"protocol"`
	}{p.Name, p.Version, p.About, wire.Protocol})
}

// Serve serves p to the host that started this process until the host ends the
// session. It ignores the arguments of the process. If no host started the
// process, it prints a description and exits with 1.
func Serve(p device.Provider) {
	s := newService(p)
	serveAs(p.Describe(), func(server *grpc.Server) { pb.RegisterDeviceServer(server, s) }, func() { s.close() })
}

// serveAs serves the services that are registered by a call of register. end frees resources that outlive a
// process.
func serveAs(about device.Plugin, register func(*grpc.Server), end func()) {
	if os.Getenv(wire.CookieKey) != wire.CookieValue {
		fmt.Fprintf(os.Stderr, "This is the device plugin %q of bnctl, which starts it\n", about.Name)
		os.Exit(1)
	}
	signal.Ignore(os.Interrupt, syscall.SIGHUP) // the whole process group gets these; bnctl handles them
	servers := make(chan *grpc.Server, 1)
	go exitWithHost(end, servers)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  wire.Protocol,
			MagicCookieKey:   wire.CookieKey,
			MagicCookieValue: wire.CookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{wire.Protocol: {wire.Service: &entry{register: register}}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			server := newServer(o)
			servers <- server
			return server
		},
		Logger: hclog.NewNullLogger(),
	})
	end()
}

func newServer(o []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(o,
		grpc.InitialWindowSize(wire.Window),
		grpc.InitialConnWindowSize(wire.Window),
		grpc.MaxRecvMsgSize(wire.ChunkBytes+wire.MaxBody),
		grpc.ForceServerCodecV2(wire.Codec{}),
		grpc.UnaryInterceptor(muteUnary),
	)...)
}

// entry registers the services with go-plugin.
type entry struct {
	plugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

func (e *entry) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	e.register(s)
	return nil
}

// GRPCClient is never called: plugins only serve.
func (e *entry) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("a plugin does not call")
}
