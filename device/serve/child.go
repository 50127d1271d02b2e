package serve

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// exitWithHost waits until standard input ends, which means that the host is gone. Then it calls end,
// which frees resources that outlive a process, and stops the server, which removes its socket. Serve
// then returns. If this needs more than a second, exitWithHost ends the process.
func exitWithHost(end func(), servers <-chan *grpc.Server) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	time.AfterFunc(time.Second, func() { os.Exit(1) })
	end()
	(<-servers).Stop()
}

// muteUnary redirects standard output to standard error at the first call. Before the first call,
// standard output is needed for the line of the handshake. Afterwards the host does not read it any
// more, and a library that prints would block.
func muteUnary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any,
	error) {
	mute()
	return next(ctx, request)
}

var mute = sync.OnceFunc(outputToError)
