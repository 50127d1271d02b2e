package server

import (
	"context"
	"errors"
	"net"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/protocol"
)

// Server serves models.
type Server struct {
	front
	o      Options
	models map[string]*served
	names  []string // of models, in the order of Options
}

// Open listens, and opens every model on devices of its own. Three things might
// happen:
// 1. All is ready; the caller closes the server.
// 2. The error is a *problem.Error or a *fleet.Unknown: o asks for what cannot be.
// 3. Any other error is about a file, an address or a device.
func Open(ctx context.Context, o Options) (*Server, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Server{o: o, models: map[string]*served{}}
	err := s.listen(ctx, &o)
	if err == nil {
		err = s.load(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// load opens the models.
func (s *Server) load(ctx context.Context) error {
	for _, path := range s.o.Models {
		name := nameOf(path)
		if s.models[name] != nil {
			return problem.New("", "", "two models have the name "+name, "give one of the files another name")
		}
		m, err := open(ctx, name, 1, path, &s.o)
		if err != nil {
			return err
		}
		s.models[name], s.names = m, append(s.names, name)
	}
	return nil
}

// find returns a version of a model: "" is the highest.
func (s *Server) find(name, version string) (*served, error) {
	m := s.models[name]
	if m == nil {
		return nil, protocol.Refuse(protocol.NotFound, "there is no model %.80q", name)
	}
	if version != "" && version != m.label() {
		return nil, protocol.Refuse(protocol.NotFound, "model %s has no version %.80q", name, version)
	}
	return m, nil
}

// HTTP returns the address at which the server answers over HTTP.
func (s *Server) HTTP() string { return s.overHTTP.Addr().String() }

// GRPC returns the address at which the server answers over gRPC; "" if it does not.
func (s *Server) GRPC() string { return addressOf(s.overGRPC) }

func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// Models returns the names of the models, in the order in which they were given.
func (s *Server) Models() []string { return s.names }

// Close gives the devices and addresses back.
func (s *Server) Close() error {
	errs := []error{s.front.close()}
	for _, m := range s.models {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}
