package server

import (
	"context"
	"errors"
	"net"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/server/internal/repository"
	"github.com/bnctl/bnctl/server/internal/tracing"
)

// Server serves models.
type Server struct {
	frontend
	updater
	o       Options
	metrics *metrics
	traces  *tracing.Tracer // nil: no span is sent
}

// Open listens, and opens devices for every model. There are three outcomes: 1. All models are ready; the
// caller closes the server. 2. The error is a *problem.Error or a *problem.Unknown: an option is invalid. 3.
// Any other error is about a file, an address or a device.
func Open(ctx context.Context, o Options) (*Server, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	policy, err := repository.ParsePolicy(o.Versions)
	if err != nil {
		return nil, problem.Wrap("versions", err)
	}
	s := &Server{o: o}
	if fleet := &s.o.Predict.Fleet; fleet.Note != nil {
		fleet.Note = withoutRepeats(fleet.Note)
	}
	s.metrics = newMetrics(s)
	s.updater = updater{o: &s.o, watch: repository.NewWatch(o.Models, policy), metrics: s.metrics,
		trimmable: s.budget.trimmable}
	if s.traces, err = tracing.Open(ctx, recipe.Release, s.o.note); err == nil {
		err = s.listen(ctx, &o)
	}
	if err == nil {
		err = s.load(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.updater.tuneGC()
	return s, nil
}

// HTTP returns the address of the HTTP server: HOST:PORT or unix:PATH.
func (s *Server) HTTP() string {
	at := s.httpListener.Addr()
	if at.Network() == "unix" {
		return "unix:" + at.String()
	}
	return at.String()
}

// URL returns the URL of the HTTP server. For a socket in the file system it returns the path of the socket,
// followed by the URL that a client uses on the socket.
func (s *Server) URL() string {
	if _, isUnix := unixPath(s.HTTP()); isUnix {
		return s.HTTP() + " http://localhost"
	}
	return "http://" + s.HTTP()
}

// GRPC returns the address of the gRPC server, or "" if there is no gRPC server.
func (s *Server) GRPC() string { return addressOf(s.grpcListener) }

func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// Model is a version of a model that is served.
type Model struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	SHA256  string `json:"sha256"` // SHA-256 of its file
}

// Models returns the versions of models that are served now.
func (s *Server) Models() (list []Model) {
	for _, m := range s.allVersions() {
		list = append(list, Model{m.name, m.version, m.sha256})
	}
	return list
}

// Close closes the devices, stops listening and sends the remaining tracing spans.
func (s *Server) Close() error {
	return errors.Join(s.frontend.close(), s.closeAll(), s.traces.Close())
}

// Health returns the address of Options.Health, or "".
func (s *Server) Health() string { return addressOf(s.healthListener) }
