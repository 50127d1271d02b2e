package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
)

// Values of Join's argument text that are not names of fabrics.
const (
	FabricAuto = "auto" // MPI, if a launcher has started several ranks
	FabricNone = "none" // this process is alone, even if a launcher started it
)

// Join makes this process a rank of the run that a launcher has started. text names the
// fabric: "mpi", "mpi:LIBRARY" or another plugin's fabric, FabricAuto or FabricNone. Join
// returns when all ranks have joined; it returns nil if this process is alone. A peer that
// is silent for the timeout counts as lost.
func (p Plugins) Join(ctx context.Context, text string, timeout time.Duration) (*fabric.Peers, error) {
	_, size := launcher.Rank()
	switch {
	case text == FabricNone, text == FabricAuto && size < 2:
		return nil, nil
	case text == FabricAuto:
		text = "mpi"
	}
	name, library, err := remote.ParseFabric(text)
	if err != nil {
		return nil, problem.New("fabric", text, err.Error(), "name one as in {fabric} mpi or {fabric} mpi:LIBRARY")
	}
	found, err := remote.FindFabric(name)
	if err != nil {
		return nil, problem.Failure("fabric", err.Error(), "").Because(err)
	}
	cmd, err := found.Command(p.Unlocked)
	if errors.Is(err, remote.ErrUnlocked) {
		return nil, problem.Wrap("", err)
	} else if err != nil {
		return nil, err
	}
	f, err := remote.JoinFabric(ctx, p.adorn(cmd), library)
	if err != nil {
		return nil, err
	}
	if f.Size() > 1 {
		near, err := remote.IntraNode(ctx, f, timeout)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return fabric.New(near, timeout), nil
	}
	err = f.Close()
	if size == 0 && err == nil {
		return nil, problem.New("fabric", text, fmt.Sprintf("%s sees one rank, and no launcher has started it",
			f.About()), "start it with one: mpirun -np 2 bnctl ...")
	}
	return nil, err
}
