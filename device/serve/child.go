package serve

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// exitWithHost ends the process when its standard input ends: the host is gone then, for
// whatever reason. The plugin gets a moment to free resources that outlive a process, and
// the server to remove its socket: Serve returns.
func exitWithHost(end func(), servers <-chan *grpc.Server) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	time.AfterFunc(time.Second, func() { os.Exit(1) })
	end()
	(<-servers).Stop()
}

// muteUnary points standard output at standard error on the first call: until then the line
// of the handshake must get through. Afterwards standard output is not read any more, and a
// library that prints would block.
func muteUnary(ctx context.Context, in any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	mute()
	return next(ctx, in)
}

var mute = sync.OnceFunc(outputToError)
