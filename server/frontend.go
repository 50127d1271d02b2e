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

// frontend has the listeners of a server, its certificates and tokens, and the state of a shutdown.
type frontend struct {
	httpListener, grpcListener, healthListener net.Listener // nil if not configured
	tlsConfig                                  *tls.Config  // nil: no TLS
	certificateExpiry                          func() time.Time
	tokens                                     *tokens // nil: no token is required
	budget                                     memoryBudget
	leaving                                    atomic.Bool  // the server reports that it is not ready
	draining                                   atomic.Bool  // new requests are refused
	active                                     atomic.Int64 // inferences in progress
}

// listen opens the listeners, and reads certificates and tokens.
func (f *frontend) listen(ctx context.Context, o *Options) (err error) {
	f.budget.limit, f.budget.conns.budget = int64(o.InFlight), &f.budget
	if f.tlsConfig, f.certificateExpiry, err = o.Security.serverTLS(o.note); err != nil {
		return err
	}
	if f.tokens, err = readTokens(o.Security.Tokens, o.note); err != nil {
		return err
	}
	for _, l := range []struct {
		at      *net.Listener
		address string
	}{{&f.httpListener, o.HTTP}, {&f.grpcListener, o.GRPC}, {&f.healthListener, o.Health}} {
		if l.address == "" {
			continue
		}
		if *l.at, err = listenOn(ctx, l.address); err != nil {
			return err
		}
	}
	return nil
}

// close closes the listeners.
func (f *frontend) close() error {
	var errs []error
	for _, l := range []net.Listener{f.httpListener, f.grpcListener, f.healthListener} {
		if l == nil {
			continue
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // Serve may have closed the listener
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// drainTime is the maximum time for answering the accepted requests after shutdown has begun.
const drainTime = 6 * time.Second

// lingerTime is how long a shutdown waits for clients to close their connections. A header in each response
// requests this. A request that arrives meanwhile is answered with 503, not cut off.
const lingerTime = 500 * time.Millisecond

// lastTime is how long a shutdown waits, after lingerTime, for first requests on connections that were
// accepted at the end of lingerTime.
const lastTime = 100 * time.Millisecond

// Serve answers requests until ctx ends. From then on the server reports that it is not
// ready, and after Options.DrainDelay it refuses new requests. It still answers the requests
// that it has accepted, and returns nil if all were answered in time. Serve may be called
// once.
func (s *Server) Serve(ctx context.Context) error {
	failed := make(chan error, 3)
	h := s.newHTTP()
	go func() { failed <- s.serveHTTP(h, s.httpListener, plainConnBytes) }()
	if s.healthListener != nil {
		probe := s.newHealth()
		defer probe.Close()
		go func() {
			failed <- probe.Serve(trackingListener{Listener: s.healthListener, tracker: &s.budget.conns,
				connBytes: plainConnBytes})
		}()
	}
	drained, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	g, health := s.newGRPC(drained)
	if s.grpcListener != nil {
		go func() { failed <- s.serveHTTP(g, s.grpcListener, http2ExtraBytes+headerGrowth*maxCallHeaders) }()
	}
	watchCtx, end := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { s.watchFiles(watchCtx) })
	defer watching.Wait()
	defer end()
	select {
	case err := <-failed:
		return errors.Join(err, h.Close(), g.Close())
	case <-ctx.Done():
	}
	s.o.note("shutting down: %v; requests under way: %d", context.Cause(ctx), s.active.Load())
	health.Shutdown()
	s.leaving.Store(true)
	time.Sleep(s.o.DrainDelay)
	s.draining.Store(true)
	drainCtx, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer stop()
	s.drain(drainCtx, lingerTime)
	endStreams()
	ended := make(chan error, 2)
	for _, server := range []*http.Server{h, g} {
		go func() { ended <- shutdown(drainCtx, server) }() // from now on no connections are accepted
	}
	s.drain(drainCtx, lastTime)
	s.budget.conns.closeUnused()
	return errors.Join(<-ended, <-ended)
}

// serveHTTP serves HTTP, or HTTPS if TLS is configured. takes is the memory of a connection in bytes.
func (f *frontend) serveHTTP(h *http.Server, l net.Listener, takes int64) error {
	counted := trackingListener{Listener: l, tracker: &f.budget.conns, connBytes: takes,
		encrypted: f.tlsConfig != nil, http2: l == f.grpcListener, tls: f.tlsConfig}
	if f.tlsConfig != nil {
		counted.connBytes += tlsExtraBytes
		if h.Protocols == nil { // HTTP/2 looks unencrypted to net/http, since TLS ends in the listener
			h.Protocols = new(http.Protocols)
			h.Protocols.SetHTTP1(true)
		}
		h.Protocols.SetUnencryptedHTTP2(true)
	}
	return h.Serve(counted)
}

// drain waits until no inference is in progress. New requests are refused meanwhile. It also waits, at most
// for a limited time, until clients have closed their connections. This includes connections without a
// request: clients open connections in advance, and the first request on such a connection must be refused,
// not cut off.
func (f *frontend) drain(ctx context.Context, limit time.Duration) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.Now().Add(limit)
	for f.active.Load() > 0 || f.budget.conns.count() > 0 && time.Now().Before(end) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// shutdown closes connections when they are idle, and all of them when ctx ends.
func shutdown(ctx context.Context, h *http.Server) error {
	err := h.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, h.Close())
	}
	return err
}

// beginInference counts an inference in progress. The caller must call done when the response is written.
func (f *frontend) beginInference() (done func(), err error) {
	f.active.Add(1)
	done = func() { f.active.Add(-1) }
	if f.draining.Load() {
		done()
		return nil, unavailable("the server is going away")
	}
	return done, nil
}
