package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// callHeaders is how many bytes of headers a call may have.
const callHeaders = 16 << 10

// smallMessage is how many bytes a message may have that is no inference.
const smallMessage = 64 << 10

// calls answers gRPC over net/http, as PROTOCOL-HTTP2.md of grpc/grpc says. The
// server of google.golang.org/grpc is not used, because it holds what comes before
// anybody can refuse it, and answers that a client does not take for ever. Here
// room is taken before a message is read, and given back when the answer is gone.
type calls struct {
	s       *Server
	ended   context.Context // streams end with it
	unary   map[string]func(ctx context.Context, read func(any) error) (any, error)
	streams map[string]func(grpc.ServerStream) error
	info    map[string]grpc.ServiceInfo
}

// newGRPC returns what answers over gRPC, and its health.
func (s *Server) newGRPC(ended context.Context) (*http.Server, *health.Server) {
	c := &calls{s: s, ended: ended, unary: map[string]func(context.Context, func(any) error) (any, error){},
		streams: map[string]func(grpc.ServerStream) error{}, info: map[string]grpc.ServiceInfo{}}
	pb.RegisterGRPCInferenceServiceServer(c, service{Server: s})
	h := health.NewServer()
	healthpb.RegisterHealthServer(c, h)
	if loopback(s.o.GRPC) || s.o.Security.Reflection {
		reflection.Register(c)
	}
	server := plain(c)
	server.MaxHeaderBytes, server.Protocols = callHeaders, new(http.Protocols)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	return server, h
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *calls) RegisterService(d *grpc.ServiceDesc, impl any) {
	for _, m := range d.Methods {
		c.unary["/"+d.ServiceName+"/"+m.MethodName] = func(ctx context.Context, read func(any) error) (any, error) {
			return m.Handler(impl, ctx, read, nil)
		}
	}
	for _, m := range d.Streams {
		c.streams["/"+d.ServiceName+"/"+m.StreamName] = func(s grpc.ServerStream) error {
			return m.Handler(impl, s)
		}
	}
	c.info[d.ServiceName] = grpc.ServiceInfo{}
}

// GetServiceInfo implements reflection.ServiceInfoProvider.
func (c *calls) GetServiceInfo() map[string]grpc.ServiceInfo { return c.info }

// ServeHTTP implements http.Handler.
func (c *calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/grpc" && kind != "application/grpc+proto" || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	began, rec := time.Now(), &record{}
	defer rec.lease.end()
	k := &call{s: c.s, w: w, r: r, pace: http.NewResponseController(w), lease: &rec.lease, most: smallMessage}
	err := asStatus(c.answer(k, rec))
	k.finish(err)
	c.s.recordGRPC(r, rec, began, err)
}

// answer lets through who may call, and calls.
func (c *calls) answer(k *call, rec *record) error {
	ctx, stop, err := c.within(k.r)
	if err != nil {
		return err
	}
	defer stop()
	k.ctx = context.WithValue(ctx, recordKey{}, rec)
	if err := c.s.enter(k.r, rec); err != nil {
		return err
	}
	method, stream := c.unary[k.r.URL.Path], c.streams[k.r.URL.Path]
	if method == nil && stream == nil {
		return status.Errorf(codes.Unimplemented, "there is no method %.80q", k.r.URL.Path)
	}
	if err := c.s.may(k.r); err != nil {
		return err
	}
	if k.many = stream != nil; k.many {
		return stream(k)
	}
	if k.r.URL.Path == pb.GRPCInferenceService_ModelInfer_FullMethodName {
		k.most = int64(c.s.o.Request)
	}
	out, err := method(k.ctx, k.only)
	if rec.unread {
		keepBuffer(k.body)
	}
	if err == nil {
		err = k.SendMsg(out)
	}
	return err
}

// within gives a call the time of a request, from its first byte on, or what the
// client gives it. Streams may watch for long, until the server ends.
func (c *calls) within(r *http.Request) (context.Context, context.CancelFunc, error) {
	given, err := timeout(r.Header.Get("Grpc-Timeout"))
	if err != nil {
		return nil, nil, err
	}
	if c.streams[r.URL.Path] == nil {
		given = min(given, c.s.o.Timeout)
	}
	ctx, stop := context.WithTimeout(r.Context(), given)
	forget := context.AfterFunc(c.ended, stop)
	return ctx, func() { forget(); stop() }, nil
}

// may refuses a call under another server's name, and one that shows no token
// where one is needed.
func (s *Server) may(r *http.Request) error {
	g := guard{hosts: s.o.Security.Hosts}
	if !g.called(r) {
		return protocol.Refuse(protocol.Forbidden, "this server is not called %.80q", r.Host)
	}
	if s.tokens != nil && !s.tokens.has(shown(r)) {
		return protocol.Refuse(protocol.Unauthorised, "want authorization: Bearer and a token of this server")
	}
	return nil
}
