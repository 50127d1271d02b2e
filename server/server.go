package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/protocol"
)

// Server serves models.
type Server struct {
	o        Options
	models   map[string]*served
	names    []string // of models, in the order of Options
	listener net.Listener
	http     *http.Server
	draining atomic.Bool
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
	err := s.listen(ctx)
	if err == nil {
		err = s.load(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) listen(ctx context.Context) (err error) {
	s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", s.o.HTTP)
	return err
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

// HTTP returns the address at which the server answers.
func (s *Server) HTTP() string { return s.listener.Addr().String() }

// drainTime is how long accepted requests may take once the server is told to end.
const drainTime = 6 * time.Second

// Serve answers until ctx ends. Then it refuses what comes, answers what was
// accepted, and returns; nil if all was answered in time.
func (s *Server) Serve(ctx context.Context) error {
	s.http = s.newHTTP()
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer stop()
	return s.http.Shutdown(end)
}

// Close gives the devices and addresses back.
func (s *Server) Close() error {
	var errs []error
	if s.listener != nil && s.http == nil {
		errs = append(errs, s.listener.Close())
	}
	if s.http != nil {
		errs = append(errs, s.http.Close())
	}
	for _, m := range s.models {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

// Models returns the names of the models, in the order in which they were given.
func (s *Server) Models() []string { return s.names }
