package parallel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/parallel/internal/ranks"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Ranks agree after every run, so that no rank continues with a result that another rank
// lacks:
//
//	rank 0   run ok ----- verdict: ok ----\               /-- run again
//	rank 1   device lost, verdict: retry --+-- gather ---+-- recover, run again
//	rank 2   run ok ----- verdict: ok ----/               \-- run again
//
// A rank that cannot continue reports Fatal, and all ranks end with its text.

// rankGroup is one process's view of all processes of a run. After every run each process reports its
// outcome to all other processes, and waits for their reports.
type rankGroup struct {
	peers    *fabric.Peers
	recovery *recovery
	program  *commonProgram
	sent     int64 // bytes to other ranks, up to the last run
}

// sameProgram returns an error unless all ranks have the same program. Programs differ if a
// device of one rank has refused an operation.
func (r *rankGroup) sameProgram(ctx context.Context) error {
	sum := sha256.Sum256(r.program.current.Text())
	all, err := r.peers.AllGather(ctx, sum[:])
	for rank, theirs := range all {
		if !bytes.Equal(theirs, sum[:]) {
			return &RankError{Rank: rank, Advice: OneKind,
				Text: "its devices run another program, as some of them lack an operation"}
		}
	}
	return err
}

// together makes a run with all ranks. f runs the part of this rank. The results of f are joined over
// all ranks, in the order of ranks.
func (r *rankGroup) together(ctx context.Context, mine *ranks.Verdict, f func() ([]tensor.Tensor, error)) (
	[]ranks.Report, error) {
	var failed error // error of this rank
	for {
		var rows []tensor.Tensor
		if failed == nil && len(r.recovery.group.members) == 0 {
			failed = &emptyRank{NoDevices}
		}
		if failed == nil {
			rows, failed = f()
		}
		all, again, err := r.agree(ctx, *mine, failed, rows)
		if !again {
			return all, err
		}
		if failed = r.recoverHere(ctx, failed); slices.ContainsFunc(all, isEmpty) {
			if failed, err = r.restoreRanks(ctx, all, failed); err != nil {
				return nil, err
			}
		}
	}
}

// recoverHere prepares the devices of this rank to run again, or returns the error.
func (r *rankGroup) recoverHere(ctx context.Context, failed error) error {
	var l *lost
	switch {
	case isEmptyRank(failed):
		return failed // restoreRanks waits for a device
	case !errors.As(failed, &l):
		return nil // a device of another rank was lost
	}
	return r.recovery.after(ctx, failed)
}

// agree exchanges the verdicts of all ranks; mine is the verdict of this rank, and failed is its
// error. It extends moments to the moments of all replicas. It reports whether all ranks must run
// again. The error is the error of the first rank that cannot continue, or the reason why the fabric
// has ended.
func (r *rankGroup) agree(ctx context.Context, mine ranks.Verdict, failed error, moments []tensor.Tensor) (
	all []ranks.Report, again bool, err error) {
	peers := r.peers
	if failed != nil {
		if err := peers.Ended(); err != nil {
			return nil, false, err
		}
		mine.Empty = isEmptyRank(failed)
		if mine.Retry = r.repairable(failed); !mine.Retry {
			mine.Fatal, mine.Advice = problem.Split(failed)
		}
		if err := peers.CallOff(ctx, failed.Error()); err != nil {
			return nil, false, errors.Join(failed, err)
		}
	}
	if all, err = ranks.Gather(ctx, peers, mine, moments); err != nil {
		return nil, false, errors.Join(failed, err)
	}
	for rank, v := range all {
		if v.Fatal != "" && rank == peers.Rank() {
			return nil, false, failed
		}
		if v.Fatal != "" {
			return nil, false, &RankError{Rank: rank, Text: v.Fatal, Advice: v.Advice}
		}
		if v.Of != mine.Of && !v.Empty && !mine.Empty {
			text := fmt.Sprintf("it is at %s, rank %d at %s", v.Of, peers.Rank(), mine.Of)
			return nil, false, &RankError{Rank: rank, Text: text}
		}
		again = again || v.Retry
	}
	if again {
		return all, true, nil
	}
	for i := range moments {
		moments[i] = ranks.Join(all, i, moments[i])
	}
	return all, false, nil
}

// repairable reports whether a failed run can be repeated: a device was lost here, or
// another rank has called it off.
func (r *rankGroup) repairable(failed error) bool {
	var l *lost
	switch {
	case isEmptyRank(failed):
		return true
	case errors.Is(failed, NoDevices):
		return false
	case errors.As(failed, &l):
		return true
	}
	return r.recovery.group.calledOff(failed)
}

// statsOf returns the work of this rank in a run.
func (r *rankGroup) statsOf(b Batch, t Timing) RankStats {
	rows := 0
	from, to := r.recovery.group.Replicas()
	for _, n := range b.Sizes[from:to] {
		rows += n
	}
	sent := r.peers.Sent(collective.Moments) + r.peers.Sent(collective.Gradients)
	s := RankStats{Rows: rows, Waited: b.Waited, Took: t.Took, Blocked: t.Blocked, Bytes: sent - r.sent}
	r.sent = sent
	return s
}
