package parallel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// RankError is why a run ends on all ranks.
type RankError struct {
	Rank int
	Text string
}

func (e *RankError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// takeShare settles which replicas the members of this rank hold: each rank has
// a range of them, as even as can be.
func (g *Group) takeShare() error {
	p := g.config.Peers
	switch {
	case p == nil:
		return nil
	case g.config.Local:
		return fmt.Errorf("replicas with weights of their own are not kept on several ranks")
	case p.Size() > g.config.Replicas:
		return fmt.Errorf("%d ranks for %d replicas: there must be at least one replica for each rank", p.Size(),
			g.config.Replicas)
	}
	g.counts = Split(g.config.Replicas, p.Size())
	from, to := g.rangeOf(p.Rank())
	g.first, g.replicas = from, to-from
	g.uplink = fabric.NewUplink(p, g.counts)
	return nil
}

// rangeOf returns the replicas of a rank.
func (g *Group) rangeOf(rank int) (from, to int) {
	for _, n := range g.counts[:rank] {
		from += n
	}
	return from, from + g.counts[rank]
}

// Replicas returns the range of replicas that the devices of this rank hold.
func (g *Group) Replicas() (from, to int) { return g.first, g.first + g.replicas }

// shift moves ranges that begin at 0 to the replicas of this rank.
func (g *Group) shift(ranges [][]int) {
	for _, replicas := range ranges {
		for i := range replicas {
			replicas[i] += g.first
		}
	}
}

// sameProgram returns an error unless all ranks have the same program: what some
// device of a rank refuses is decomposed there.
func (d *Driver) sameProgram(ctx context.Context) error {
	peers := d.group.config.Peers
	if peers == nil {
		return nil
	}
	sum := sha256.Sum256(d.group.program.Text())
	all, err := peers.Gather(ctx, sum[:])
	for rank, theirs := range all {
		if !bytes.Equal(theirs, sum[:]) {
			return &RankError{rank, "its devices run another program, as some of them lack an operation; " +
				"use devices of one kind on all ranks"}
		}
	}
	return err
}

// verdict is what a rank says of a run that all have made.
type verdict struct {
	Of    string `json:"of"`              // the run: all ranks make the same
	Retry bool   `json:"retry,omitempty"` // not all of its devices have: once more
	Fatal string `json:"fatal,omitempty"` // why it cannot go on
	Empty bool   `json:"empty,omitempty"` // it has no device, and waits for one
	Stop  bool   `json:"stop,omitempty"`  // its context has ended
	Share
}

// Share is what a rank has done of a run.
type Share struct {
	Rows    int           `json:"rows"`
	Waited  time.Duration `json:"waited"`  // for input: Batch.Waited
	Blocked time.Duration `json:"blocked"` // in exchanges, the mean over its devices
	Bytes   int64         `json:"bytes"`   // that it has sent to other ranks since the run before
}

// share returns what this rank has done.
func (d *Driver) share(b Batch, t Timing) Share {
	peers, rows := d.group.config.Peers, 0
	for _, n := range b.Sizes[d.group.first : d.group.first+d.group.replicas] {
		rows += n
	}
	sent := peers.Sent(collective.Moments) + peers.Sent(collective.Gradients)
	s := Share{Rows: rows, Waited: b.Waited, Blocked: t.Blocked, Bytes: sent - d.sent}
	d.sent = sent
	return s
}

// runOverRanks runs f on a batch on all ranks, again and again as long as one of
// them loses a device. No rank returns a result before all have one.
func (d *Driver) runOverRanks(ctx context.Context, f *graph.Function, b Batch) (Result, error) {
	mine := verdict{Of: fmt.Sprintf("%s of version %d", f.Name, d.version), Stop: ctx.Err() != nil}
	ctx = context.WithoutCancel(ctx)
	var r Result
	all, err := d.together(ctx, &mine, func() ([]tensor.Tensor, error) {
		outs, t, err := d.run(ctx, f, b)
		if err != nil {
			return nil, err
		}
		r = d.result(f, outs, t)
		mine.Share = d.share(b, t)
		return r.Moments, nil
	})
	if err != nil {
		return Result{}, err
	}
	for _, v := range all {
		r.Stop, r.Ranks = r.Stop || v.Stop, append(r.Ranks, v.Share)
	}
	d.kept = f.Name == graph.Train
	return r, nil
}

// together makes a run with all ranks: f is what this one does of it. What f
// returns becomes that of all ranks, one after the other.
func (d *Driver) together(ctx context.Context, mine *verdict, f func() ([]tensor.Tensor, error)) (
	[]report, error) {
	var failed error // of this rank
	for {
		var rows []tensor.Tensor
		if failed == nil && len(d.group.members) == 0 {
			failed = &emptied{NoDevices}
		}
		if failed == nil {
			rows, failed = f()
		}
		all, again, err := d.agree(ctx, *mine, failed, rows)
		if err != nil || !again {
			return all, err
		}
		if failed = d.recoverHere(ctx, failed); slices.ContainsFunc(all, report.empty) {
			if failed, err = d.refill(ctx, all, failed); err != nil {
				return nil, err
			}
		}
	}
}

// recoverHere makes the devices of this rank ready to run again, or returns why
// it cannot.
func (d *Driver) recoverHere(ctx context.Context, failed error) error {
	var l *lost
	if !errors.As(failed, &l) || isEmptied(failed) {
		return nil // another rank's device, or one to wait for
	}
	return d.group.recover(ctx, failed)
}

// agree tells all ranks how this one has fared and hears of the others. Moments
// become those of all replicas. It reports whether all have to run once more. The
// error is that of the first rank that cannot go on, or why the fabric has ended.
func (d *Driver) agree(ctx context.Context, mine verdict, failed error, moments []tensor.Tensor) (
	all []report, again bool, err error) {
	peers := d.group.config.Peers
	if failed != nil {
		if err := peers.Ended(); err != nil {
			return nil, false, err
		}
		mine.Empty = isEmptied(failed)
		if mine.Retry = d.repairable(failed); !mine.Retry {
			mine.Fatal = failed.Error()
		}
		if err := peers.CallOff(ctx, failed.Error()); err != nil {
			return nil, false, errors.Join(failed, err)
		}
	}
	if all, err = gather(ctx, peers, mine, moments); err != nil {
		return nil, false, errors.Join(failed, err)
	}
	for rank, v := range all {
		if v.Fatal != "" && rank == peers.Rank() {
			return nil, false, failed
		}
		if v.Fatal != "" {
			return nil, false, &RankError{rank, v.Fatal}
		}
		if v.Of != mine.Of && !v.Empty && !mine.Empty {
			text := fmt.Sprintf("it is at %s, rank %d at %s", v.Of, peers.Rank(), mine.Of)
			return nil, false, &RankError{rank, text}
		}
		again = again || v.Retry
	}
	if again {
		return all, true, nil
	}
	for i := range moments {
		moments[i] = joined(all, i, moments[i])
	}
	return all, false, nil
}

// repairable reports whether a run that failed can be made once more: a device
// was lost here, or another rank has called it off.
func (d *Driver) repairable(failed error) bool {
	var l *lost
	switch {
	case isEmptied(failed):
		return true
	case errors.Is(failed, NoDevices):
		return false
	case errors.As(failed, &l):
		return true
	}
	aborted := errors.Is(failed, collective.Aborted) || errors.Is(failed, device.Aborted)
	hub, ok := d.group.hub.(*collective.Hub)
	return ok && aborted && hub.CalledOff()
}

// report is what a rank sends of a run: its verdict and its replicas' moments.
type report struct {
	verdict
	moments [][]byte
}

// gather brings the reports of all ranks together, by rank.
func gather(ctx context.Context, p *fabric.Peers, mine verdict, moments []tensor.Tensor) ([]report, error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	b = append(b, 0)
	for _, m := range moments {
		b = append(b, m.Bytes...)
	}
	records, err := p.Gather(ctx, b)
	if err != nil {
		return nil, err
	}
	all := make([]report, len(records))
	for rank, record := range records {
		if err := all[rank].parse(record, moments); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return all, nil
}

// parse reads what gather sends; like is the moments of this rank, whose rows
// are as long as those of the others.
func (r *report) parse(record []byte, like []tensor.Tensor) error {
	end := 0
	for end < len(record) && record[end] != 0 {
		end++
	}
	if end == len(record) {
		return fmt.Errorf("a report of %d bytes has no end", len(record))
	}
	if err := json.Unmarshal(record[:end], &r.verdict); err != nil {
		return fmt.Errorf("a report: %w", err)
	}
	rest, row := record[end+1:], 0
	for _, m := range like {
		row += tensor.Count(m.Shape[1:]) * m.DType.Size()
	}
	if r.Retry || r.Fatal != "" || row == 0 {
		return nil // there are no moments
	}
	replicas := len(rest) / row
	for _, m := range like {
		n := replicas * tensor.Count(m.Shape[1:]) * m.DType.Size()
		r.moments, rest = append(r.moments, rest[:n]), rest[n:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("a report has %d bytes too many", len(rest))
	}
	return nil
}

// joined returns moments i of all ranks, one after the other; like is those of one.
func joined(all []report, i int, like tensor.Tensor) tensor.Tensor {
	var bytes []byte
	for _, r := range all {
		bytes = append(bytes, r.moments[i]...)
	}
	shape := append([]int{0}, like.Shape[1:]...)
	shape[0] = len(bytes) / (tensor.Count(like.Shape[1:]) * like.DType.Size())
	out := tensor.New(like.DType, shape...)
	copy(out.Bytes, bytes)
	return out
}
