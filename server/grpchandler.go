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

// maxCallHeaders is the largest size of a call's headers, in bytes.
const maxCallHeaders = 16 << 10

// maxSmallMessage is the largest message that is not an inference request, in bytes.
const maxSmallMessage = 64 << 10

// grpcHandler answers gRPC over net/http, as PROTOCOL-HTTP2.md of grpc/grpc specifies. It replaces the server
// of google.golang.org/grpc. That server buffers a request before a handler can refuse it, and buffers
// responses without a limit if a client does not read them. grpcHandler reserves memory before it reads a
// message, and releases it when the response is written.
type grpcHandler struct {
	s       *Server
	drained context.Context // its cancellation ends streams
	unary   map[string]func(ctx context.Context, read func(any) error) (any, error)
	streams map[string]func(grpc.ServerStream) error
	info    map[string]grpc.ServiceInfo
}

// newGRPC returns the server for gRPC, and its health service.
func (s *Server) newGRPC(drained context.Context) (*http.Server, *health.Server) {
	c := &grpcHandler{s: s, drained: drained,
		unary:   map[string]func(context.Context, func(any) error) (any, error){},
		streams: map[string]func(grpc.ServerStream) error{}, info: map[string]grpc.ServiceInfo{}}
	pb.RegisterGRPCInferenceServiceServer(c, service{Server: s})
	h := health.NewServer()
	healthpb.RegisterHealthServer(c, h)
	if loopback(s.o.GRPC) || s.o.Security.Reflection {
		reflection.Register(c)
	}
	server := newHTTPServer(c)
	server.MaxHeaderBytes, server.Protocols = maxCallHeaders, new(http.Protocols)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	return server, h
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *grpcHandler) RegisterService(d *grpc.ServiceDesc, impl any) {
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
func (c *grpcHandler) GetServiceInfo() map[string]grpc.ServiceInfo { return c.info }

// ServeHTTP implements http.Handler.
func (c *grpcHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/grpc" && kind != "application/grpc+proto" || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	began, rec := time.Now(), &record{}
	defer rec.reservation.release()
	k := &call{s: c.s, w: w, r: r, controller: http.NewResponseController(w),
		reservation: &rec.reservation, maxMessage: maxSmallMessage}
	err := asStatus(c.handle(k, rec))
	k.finish(err)
	c.s.recordGRPC(r, rec, began, err)
}

// handle authorizes a call, and runs its method.
func (c *grpcHandler) handle(k *call, rec *record) error {
	ctx, stop, err := c.withTimeout(k.r)
	if err != nil {
		return err
	}
	defer stop()
	k.ctx = context.WithValue(ctx, recordKey{}, rec)
	if err := c.s.reserveHeaders(k.r, rec); err != nil {
		return err
	}
	method, stream := c.unary[k.r.URL.Path], c.streams[k.r.URL.Path]
	if method == nil && stream == nil {
		return status.Errorf(codes.Unimplemented, "method %.80q does not exist", k.r.URL.Path)
	}
	if err := c.s.authorize(k.r); err != nil {
		return err
	}
	if k.streaming = stream != nil; k.streaming {
		return stream(k)
	}
	if k.r.URL.Path == pb.GRPCInferenceService_ModelInfer_FullMethodName {
		k.maxMessage = int64(c.s.o.Request)
	}
	out, err := method(k.ctx, k.recvUnary)
	if rec.bodyUnused {
		recycleBuffer(k.body)
	}
	if err == nil {
		err = k.SendMsg(out)
	}
	return err
}

// withTimeout limits a unary call to Options.Timeout, counted from its first byte, or to the client's timeout
// if that is shorter. Streams may stay open until the server shuts down.
func (c *grpcHandler) withTimeout(r *http.Request) (context.Context, context.CancelFunc, error) {
	given, err := timeout(r.Header.Get("Grpc-Timeout"))
	if err != nil {
		return nil, nil, err
	}
	if c.streams[r.URL.Path] == nil {
		given = min(given, c.s.o.Timeout)
	}
	ctx, stop := context.WithTimeout(r.Context(), given)
	forget := context.AfterFunc(c.drained, stop)
	return ctx, func() { forget(); stop() }, nil
}

// authorize returns an error if the call's host name does not belong to this server. If the server requires
// tokens, it also returns an error for a call without a valid token.
func (s *Server) authorize(r *http.Request) error {
	g := guard{hosts: s.o.Security.Hosts}
	if !g.hostAllowed(r) {
		return protocol.Refuse(protocol.Forbidden, "this server is not called %.80q", r.Host)
	}
	if s.tokens != nil && !s.tokens.has(bearerToken(r)) {
		return protocol.Refuse(protocol.Unauthorised, "want authorization: Bearer and a token of this server")
	}
	return nil
}
