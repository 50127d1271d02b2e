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

// Main is the main function of a plugin that provides p. It looks at the
// arguments of the process and returns when the host is done with it:
// `BINARY describe` says what the plugin is, `BINARY debug` serves a host that
// did not start it, until standard input ends.
func Main(p device.Provider) {
	if len(os.Args) == 2 && os.Args[1] == "describe" {
		if err := describe(p.Describe()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "debug" {
		fmt.Fprintf(os.Stderr, "start bnctl with BNCTL_REATTACH_DEVICES='%s=LINE', where LINE is this:\n",
			p.Describe().Name)
		_ = os.Setenv(wire.CookieKey, wire.CookieValue)
	}
	Serve(p)
}

// describe prints what a plugin is, for `BINARY describe`.
func describe(p device.Plugin) error {
	return json.NewEncoder(os.Stdout).Encode(struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		About    string `json:"about"`
		Protocol int    `json:"protocol"`
	}{p.Name, p.Version, p.About, wire.Protocol})
}

// Serve serves p to the host that started this process, whatever the
// arguments of the process, until the host is done with it. A process that no
// host started prints what it is and exits with 1.
func Serve(p device.Provider) {
	if os.Getenv(wire.CookieKey) != wire.CookieValue {
		name := p.Describe().Name
		fmt.Fprintf(os.Stderr, "This is the device plugin %q of bnctl; bnctl starts it: bnctl devices list\n", name)
		os.Exit(1)
	}
	signal.Ignore(os.Interrupt, syscall.SIGHUP) // they reach the whole process group; bnctl decides
	s := newService(p)
	servers := make(chan *grpc.Server, 1)
	go exitWithHost(s, servers)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  wire.Protocol,
			MagicCookieKey:   wire.CookieKey,
			MagicCookieValue: wire.CookieValue,
		},
		VersionedPlugins: map[int]plugin.PluginSet{wire.Protocol: {wire.Service: &entry{service: s}}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			server := newServer(o)
			servers <- server
			return server
		},
		Logger: hclog.NewNullLogger(),
	})
	s.close()
}

func newServer(o []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(o,
		grpc.InitialWindowSize(wire.Window),
		grpc.InitialConnWindowSize(wire.Window),
		grpc.MaxRecvMsgSize(wire.ChunkBytes+wire.MaxBody),
		grpc.UnaryInterceptor(muteUnary),
	)...)
}

// entry registers the service with go-plugin.
type entry struct {
	plugin.NetRPCUnsupportedPlugin
	service *service
}

func (e *entry) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterDeviceServer(s, e.service)
	return nil
}

// GRPCClient is never called: plugins only serve.
func (e *entry) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("a plugin does not call")
}
