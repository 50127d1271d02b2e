package parallel

import (
	"context"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/internal/ranks"
	"github.com/bnctl/bnctl/tensor"
)

// A rank without devices cannot compute, and its replicas cannot move to other ranks. So all
// ranks wait until it has a device again, and the lowest rank that has the state sends it:
//
//	rank 0   has it   ---- state ----+
//	rank 1   has it                  |  the others gather it, and drop it
//	rank 2   empty    <--------------+  rejoin, and the run is repeated

// isEmpty reports whether a rank waits for a device.
func isEmpty(r ranks.Report) bool { return r.Empty }

// restoreRanks waits for a device on every rank without one. Then the lowest rank that has the
// state sends it to these ranks. Every rank that has the state has made all commits. failed is the
// reason why this rank cannot run now; stillFailed is the reason why it cannot run afterwards.
func (r *rankGroup) restoreRanks(ctx context.Context, reports []ranks.Report, failed error) (
	stillFailed, fatal error) {
	source := slices.IndexFunc(reports, func(r ranks.Report) bool { return !r.Empty })
	if source < 0 {
		return nil, fmt.Errorf("%w on any rank", NoDevices)
	}
	peers := r.peers
	mine := reports[peers.Rank()].Empty
	var came *member
	missing := ""
	if mine {
		var err error
		if came, err = r.awaitDevice(ctx, failed); err != nil {
			missing = err.Error()
		}
	}
	if err := r.allFound(ctx, missing); err != nil {
		return nil, err
	}
	var state []byte
	if peers.Rank() == source {
		have, err := r.recovery.stepper.readState(ctx)
		if err != nil {
			return nil, err
		}
		state = r.packed(have)
	}
	states, err := peers.AllGather(ctx, state)
	if err != nil || !mine {
		return failed, err
	}
	got, err := r.unpacked(states[source])
	if err != nil {
		return nil, fmt.Errorf("rank %d: %w", source, err)
	}
	lostAgain, fatal := r.recovery.rejoin(ctx, came, r.recovery.stepper.Version(), got)
	if lostAgain != nil && !isEmptyRank(lostAgain) {
		lostAgain = &emptyRank{lostAgain}
	}
	return lostAgain, fatal
}

// awaitDevice returns the next device that is opened again on this rank.
func (r *rankGroup) awaitDevice(ctx context.Context, cause error) (*member, error) {
	if err := r.recovery.countLastLoss(cause); err != nil {
		return nil, err
	}
	return r.recovery.nextWithin(ctx, cause)
}

// allFound returns an error if a rank has not found a device; missing is the reason on this
// rank, "" if it has one.
func (r *rankGroup) allFound(ctx context.Context, missing string) error {
	all, err := r.peers.AllGather(ctx, []byte(missing))
	for rank, text := range all {
		if len(text) > 0 {
			return &RankError{Rank: rank, Text: string(text)}
		}
	}
	return err
}

// packed returns the bytes of a state in the order of the program's table.
func (r *rankGroup) packed(state map[string]tensor.Tensor) []byte {
	var out []byte
	for _, s := range r.program.current.State {
		out = append(out, state[s.Name].Bytes...)
	}
	return out
}

func (r *rankGroup) unpacked(b []byte) (map[string]tensor.Tensor, error) {
	state := map[string]tensor.Tensor{}
	for _, s := range r.program.current.State {
		t := tensor.New(s.DType, s.Shape...)
		if len(b) < len(t.Bytes) {
			return nil, fmt.Errorf("it has sent a part of its state")
		}
		b = b[copy(t.Bytes, b):]
		state[s.Name] = t
	}
	if len(b) > 0 {
		return nil, device.Errorf("", "", device.Invalid, "it has sent %d bytes too many of its state", len(b))
	}
	return state, nil
}
