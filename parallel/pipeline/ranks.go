package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Stages may run on the devices of several ranks. Each rank has consecutive stages with all
// of their columns, and opens only the devices of these stages. Values that cross between
// ranks are sent (post). After every call each rank reports its outcome, and all ranks get
// the outputs of all stages:
//
//	rank 0   stages 1, 2   forward --across:--> backward <--+   report: moments of its layers
//	rank 1   stage 3                forward, backward ------+   report: moments, loss

// stageRanks is one process's view of the processes of a run over stages.
type stageRanks struct {
	peers   *fabric.Peers
	devices []rankDevices // devices of each rank
	owners  []int         // rank of each stage
	columns [][]string    // devices of each stage
	sent    int64         // bytes to other ranks, up to the last report
	measure bool          // a rank has requested Config.Measure
}

// rankDevices describes the devices of a rank.
type rankDevices struct {
	Names []string `json:"names"`
	Free  []int64  `json:"free"` // free memory in bytes

	Measure bool `json:"measure,omitempty"`
}

// newStageRanks exchanges the descriptions of the devices of all ranks, and returns the
// ranks; nil for a run of one process.
func newStageRanks(ctx context.Context, c Config, owner Owner) (*stageRanks, error) {
	p := c.Peers
	if p == nil {
		return nil, nil
	}
	devices := owner.Devices()
	mine := rankDevices{Free: memoryOf(devices), Measure: c.Measure}
	for _, m := range devices {
		mine.Names = append(mine.Names, m.Name)
	}
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := p.AllGather(ctx, b)
	if err != nil {
		return nil, err
	}
	r := &stageRanks{peers: p, devices: make([]rankDevices, len(all))}
	for rank, record := range all {
		d := &r.devices[rank]
		if err := json.Unmarshal(record, d); err != nil || len(d.Names) == 0 || len(d.Free) != len(d.Names) {
			return nil, &step.RankError{Rank: rank,
				Text: fmt.Sprintf("what it says of its devices is none of bnctl: %q", record)}
		}
		r.measure = r.measure || d.Measure
	}
	return r, nil
}

// free returns the free memory of the devices of all ranks; without ranks, of the owner's devices.
func (r *stageRanks) free(owner Owner) (sizes []int64) {
	if r == nil {
		return memoryOf(owner.Devices())
	}
	for _, d := range r.devices {
		sizes = append(sizes, d.Free...)
	}
	return sizes
}

// deal assigns stages to ranks. The devices of a rank are the columns of its stages.
func (r *stageRanks) deal(stages int) error {
	columns, err := stage.Columns(len(r.free(nil)), stages)
	if err != nil {
		return err
	}
	r.owners, r.columns = nil, nil
	for rank, d := range r.devices {
		if n := len(d.Names); n%columns != 0 {
			return problem.New("stages", strconv.Itoa(stages), fmt.Sprintf("rank %d has %s, and a stage %d, which "+
				"lie on one rank", rank, problem.Plural(n, "device"), columns),
				fmt.Sprintf("give all ranks as many devices, and use {stages} %d", len(r.devices)))
		}
		for names := range slices.Chunk(d.Names, columns) {
			r.owners = append(r.owners, rank)
			var of []string
			for _, name := range names {
				of = append(of, fmt.Sprintf("%s of rank %d", name, rank))
			}
			r.columns = append(r.columns, of)
		}
	}
	return nil
}

// local returns the range of the stages of this rank.
func (r *stageRanks) local() (from, to int) {
	from = slices.Index(r.owners, r.peers.Rank())
	to = from
	for to < len(r.owners) && r.owners[to] == r.peers.Rank() {
		to++
	}
	return from, to
}

// stageReport is the outcome of a call on a rank.
type stageReport struct {
	Of     string `json:"of"`               // name of the call, which must be the same on all ranks
	Retry  bool   `json:"retry,omitempty"`  // the call has to be repeated
	Fatal  string `json:"fatal,omitempty"`  // why the rank cannot continue
	Advice string `json:"advice,omitempty"` // remedy for Fatal
	Stop   bool   `json:"stop,omitempty"`   // the context of the rank has ended
	step.RankStats
	Restarted bool            `json:"restarted,omitempty"` // a stage of the rank is at the ledger's snapshot
	Lacking   bool            `json:"lacking,omitempty"`   // a stage lacks the gradients of the last step
	Orphan    int             `json:"orphan,omitempty"`    // number, from 1, of a stage without devices
	Why       string          `json:"why,omitempty"`       // reason for Orphan, or for refusing other layers
	Cause     int             `json:"cause,omitempty"`     // kind of Fatal: index in rankCauses, from 1
	Worked    []time.Duration `json:"worked,omitempty"`    // time of each stage, the mean over its devices
	Outputs   []outputHead    `json:"outputs,omitempty"`   // the bytes of the outputs follow the report
}

// outputHead describes an output.
type outputHead struct {
	Name  string
	DType tensor.DType
	Shape []int
}

// rankCauses are the kinds of errors that callers handle, on whichever rank they occur.
var rankCauses = []error{device.OutOfMemory, device.NonFinite, step.NoDevices}

// agree exchanges the reports of all ranks. failed is the reason why this rank cannot continue, or
// nil. agree adds the outputs of the other ranks to outputs. The error is the error of the first
// rank that cannot continue, or the reason why the fabric has ended.
func (r *stageRanks) agree(ctx context.Context, mine stageReport, failed error,
	outputs map[string]tensor.Tensor) ([]stageReport, error) {
	if err := r.peers.Ended(); err != nil {
		return nil, errors.Join(failed, err)
	}
	if failed != nil {
		mine.Fatal, mine.Advice = problem.Split(failed)
		mine.Cause = 1 + slices.IndexFunc(rankCauses, func(c error) bool { return errors.Is(failed, c) })
	}
	records, err := r.peers.AllGather(ctx, mine.pack(outputs))
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	all := make([]stageReport, len(records))
	for rank, record := range records {
		if rank == r.peers.Rank() {
			if all[rank] = mine; failed != nil {
				return nil, failed
			}
			continue
		}
		if err := all[rank].unpack(record, outputs); err != nil {
			return nil, &step.RankError{Rank: rank, Text: err.Error()}
		}
		if err := all[rank].fatal(rank); err != nil {
			return nil, err
		}
		if all[rank].Of != mine.Of {
			return nil, &step.RankError{Rank: rank, Text: fmt.Sprintf("it is at %s, rank %d at %s", all[rank].Of,
				r.peers.Rank(), mine.Of)}
		}
	}
	return all, nil
}

// fatal returns the reason why a rank cannot continue, or nil if it can.
func (v *stageReport) fatal(rank int) error {
	if v.Fatal == "" {
		return nil
	}
	err := &step.RankError{Rank: rank, Text: v.Fatal, Advice: v.Advice}
	var e *problem.Error
	if v.Cause < 1 || v.Cause > len(rankCauses) || !errors.As(err.Unwrap(), &e) {
		return err
	}
	return e.Because(rankCauses[v.Cause-1])
}

// pack returns a report, a zero byte, and the bytes of outputs.
func (v stageReport) pack(outputs map[string]tensor.Tensor) []byte {
	for name, t := range outputs {
		v.Outputs = append(v.Outputs, outputHead{name, t.DType, t.Shape})
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and strings can always be encoded
	}
	b = append(b, 0)
	for _, o := range v.Outputs {
		b = append(b, outputs[o.Name].Bytes...)
	}
	return b
}

// unpack decodes the result of pack and adds its outputs to outputs.
func (v *stageReport) unpack(record []byte, outputs map[string]tensor.Tensor) error {
	end := slices.Index(record, 0)
	if end < 0 {
		return fmt.Errorf("a report of %d bytes has no end", len(record))
	}
	if err := json.Unmarshal(record[:end], v); err != nil {
		return fmt.Errorf("a report: %w", err)
	}
	rest := record[end+1:]
	for _, o := range v.Outputs {
		size, err := tensor.Size(o.DType, o.Shape)
		if err != nil || size > len(rest) {
			return fmt.Errorf("a report of %d bytes ends in %s", len(record), o.Name)
		}
		t := tensor.New(o.DType, o.Shape...)
		rest = rest[copy(t.Bytes, rest[:size]):]
		if outputs != nil {
			outputs[o.Name] = t
		}
	}
	return nil
}

// callOff ends the waiting of the other ranks, since this rank cannot do its part.
func (r *stageRanks) callOff(ctx context.Context, why error) error {
	if r.peers.Ended() != nil {
		return nil // the other ranks learn this from the report of this rank
	}
	return r.peers.CallOff(ctx, why.Error())
}

// failed ends the waiting of the other ranks after an error. It returns the error if this
// rank caused it; otherwise the call has to be repeated. Without ranks it returns err.
func (r *stageRanks) failed(ctx context.Context, err error) (retry bool, _ error) {
	if r == nil || err == nil {
		return false, err
	}
	off := r.callOff(ctx, err)
	if isElsewhere(err) {
		return true, off
	}
	return false, errors.Join(err, off)
}

// joinTimes returns the times of all layers; each rank has measured those in its stages.
func (r *stageRanks) joinTimes(ctx context.Context, d *stage.Division, times []float64) ([]float64, error) {
	t := tensor.Of(times, len(times))
	all, err := r.peers.AllGather(ctx, t.Bytes)
	if err != nil {
		return nil, err
	}
	joined := slices.Clone(times)
	for s, rank := range r.owners {
		theirs, err := tensor.FromBytes(tensor.F64, t.Shape, all[rank])
		if err != nil {
			return nil, &step.RankError{Rank: rank, Text: err.Error()}
		}
		joined = d.TimesOf(s, theirs.Clone().F64(), joined)
	}
	return joined, nil
}

// statsOf returns the work of this rank.
func (r *stageRanks) statsOf(b step.Batch, t step.Timing) step.RankStats {
	sent := r.peers.Sent(collective.Moments) + r.peers.Sent(collective.Gradients)
	s := step.RankStats{Waited: b.Waited, Took: t.Took, Blocked: t.Blocked, Bytes: sent - r.sent}
	for _, n := range b.Sizes {
		s.Rows += n
	}
	r.sent = sent
	return s
}

// elsewhere is an error that another rank has caused. The devices of this rank are intact.
type elsewhere struct{ error }

func (e *elsewhere) Unwrap() error { return e.error }

func isElsewhere(err error) bool {
	var e *elsewhere
	return errors.As(err, &e)
}

// routes is one rank's view of the values that cross between ranks in some functions.
type routes struct {
	readers  map[string][]int      // ranks that read each value of this rank
	sent     map[int]int           // number of values sent to each rank
	received map[int]int           // number of values received from each rank
	types    map[string]graph.Type // types of all values that cross
}

// routesOf returns the values that cross between ranks in the functions with these names.
func (r *stageRanks) routesOf(programs []*graph.Program, names ...string) *routes {
	makers, readers := map[string]int{}, map[string][]int{}
	way := &routes{map[string][]int{}, map[int]int{}, map[int]int{}, map[string]graph.Type{}}
	for s, p := range programs {
		for _, name := range names {
			f := p.Function(name)
			if f == nil {
				continue
			}
			for _, o := range f.Outputs {
				if !o.Keep && stage.Across(o.Name) {
					makers[o.Name] = r.owners[s]
				}
			}
			for _, v := range p.Given(f) {
				if in := f.Values[v]; stage.Across(in.Name) && !slices.Contains(readers[in.Name], r.owners[s]) {
					readers[in.Name] = append(readers[in.Name], r.owners[s])
					way.types[in.Name] = in.Type
				}
			}
		}
	}
	me := r.peers.Rank()
	for name, from := range makers {
		for _, to := range readers[name] {
			switch {
			case from == to:
			case from == me:
				way.readers[name] = append(way.readers[name], to)
				way.sent[to]++
			case to == me:
				way.received[from]++
			}
		}
	}
	return way
}
