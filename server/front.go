package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// front is where requests come in.
type front struct {
	overHTTP, overGRPC, overHealth net.Listener // nil: not this way
	secure                         *tls.Config  // nil: connections are not protected
	secureUntil                    func() time.Time
	tokens                         *tokens // nil: none is needed
	room                           room
	draining                       atomic.Bool  // nothing new is taken
	active                         atomic.Int64 // inferences under way
}

// listen takes the addresses, and reads what protects them.
func (f *front) listen(ctx context.Context, o *Options) (err error) {
	f.room.limit, f.room.conns.room = int64(o.InFlight), &f.room
	if f.secure, f.secureUntil, err = o.Security.protect(o.note); err != nil {
		return err
	}
	if f.tokens, err = readTokens(o.Security.Tokens, o.note); err != nil {
		return err
	}
	for _, l := range []struct {
		at      *net.Listener
		address string
	}{{&f.overHTTP, o.HTTP}, {&f.overGRPC, o.GRPC}, {&f.overHealth, o.Health}} {
		if l.address == "" {
			continue
		}
		if *l.at, err = new(net.ListenConfig).Listen(ctx, "tcp", l.address); err != nil {
			return err
		}
	}
	return nil
}

// close gives the addresses back.
func (f *front) close() error {
	var errs []error
	for _, l := range []net.Listener{f.overHTTP, f.overGRPC, f.overHealth} {
		if l == nil {
			continue
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // Serve has closed it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// drainTime is how long accepted requests may take once the server is told to end.
const drainTime = 6 * time.Second

// Serve answers requests until ctx ends. Then it refuses new requests, answers
// those that it accepted, and returns nil if all were answered in time. It may
// be called once.
func (s *Server) Serve(ctx context.Context) error {
	failed := make(chan error, 3)
	h := s.newHTTP()
	go func() { failed <- s.serveHTTP(h, s.overHTTP, plainConnection) }()
	if s.overHealth != nil {
		probe := s.newHealth()
		defer probe.Close()
		go func() {
			failed <- probe.Serve(countedListener{s.overHealth, &s.room.conns, plainConnection, false, false})
		}()
	}
	settled, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	g, health := s.newGRPC(settled)
	if s.overGRPC != nil {
		go func() { failed <- s.serveHTTP(g, s.overGRPC, framed+headerGrowth*callHeaders) }()
	}
	keeping, end := context.WithCancel(ctx)
	var kept sync.WaitGroup
	kept.Go(func() { s.keep(keeping) })
	defer kept.Wait()
	defer end()
	select {
	case err := <-failed:
		return errors.Join(err, h.Close(), g.Close())
	case <-ctx.Done():
	}
	s.draining.Store(true)
	defer time.AfterFunc(endUnused, s.room.conns.end).Stop()
	health.Shutdown()
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer stop()
	s.settle(late)
	endStreams()
	return errors.Join(shutdown(late, h), shutdown(late, g))
}

// serveHTTP answers over HTTP, or over HTTPS where that is, on connections that
// take so many bytes each.
func (f *front) serveHTTP(h *http.Server, l net.Listener, takes int64) error {
	counted := countedListener{l, &f.room.conns, takes, f.secure != nil, l == f.overGRPC}
	if f.secure == nil {
		return h.Serve(counted)
	}
	counted.takes += tlsConnection
	h.TLSConfig = f.secure.Clone()
	return h.ServeTLS(counted, "", "")
}

// settle waits until no inference is under way. Meanwhile others are told that
// the server is going away.
func (f *front) settle(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for f.active.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// shutdown ends connections when they are idle, and all when ctx ends.
func shutdown(ctx context.Context, h *http.Server) error {
	err := h.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, h.Close())
	}
	return err
}

// begin notes an inference; done is called when its answer is written.
func (f *front) begin() (done func(), err error) {
	f.active.Add(1)
	done = func() { f.active.Add(-1) }
	if f.draining.Load() {
		done()
		return nil, unavailable("the server is going away")
	}
	return done, nil
}
