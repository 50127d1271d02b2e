package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/fleet"
)

func fabricFlag() cli.Flag {
	return &cli.StringFlag{Name: "fabric", Value: fleet.FabricAuto, Usage: "what joins the processes that a " +
		"launcher has started: mpi, mpi:LIBRARY, a plugin's name, none, or auto: mpi where there are several"}
}

// peers are the ranks of a run; nil if this process is alone.
type peers = *fabric.Peers

// onRanks calls f as one rank of several, or alone, with nil. Ranks other than 0 print only
// errors. An error of one rank ends all.
func onRanks(c *cli.Context, o *output, f func(ctx context.Context, p peers) error) error {
	silence := time.Duration(c.Float64("device-timeout") * float64(time.Second))
	p, err := pluginsOf(c).Join(c.Context, c.String("fabric"), silence)
	if p == nil || err != nil {
		if err != nil {
			return err
		}
		return f(c.Context, nil)
	}
	if os.Getenv("GOMAXPROCS") == "" { // waking more threads than there are cores costs more than it gains
		runtime.GOMAXPROCS(launcher.Cores())
	}
	if p.Rank() > 0 {
		o.stdout, o.quiet = io.Discard, true
	}
	return p.Together(func() error { return f(c.Context, p) },
		func(err error) string { return asFlags(err).Error() })
}

// codeOfRanks returns the exit code of an error that all ranks return; for other errors together is false.
func codeOfRanks(ctx context.Context, err error) (code int, together bool) {
	switch {
	case errors.Is(err, fabric.Ended): // whatever signal has come since
		return exitFailed, true
	case errors.Is(err, fabric.Agreed) && ctx.Err() == nil: // another rank received a signal
		return exitTerminated, true
	}
	return 0, false
}

// rankName returns the prefix of messages of ranks other than the first: "rank 2: ".
func rankName() string {
	if rank, _ := launcher.Rank(); rank > 0 {
		return fmt.Sprintf("rank %d: ", rank)
	}
	return ""
}
