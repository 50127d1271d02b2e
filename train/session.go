package train

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Session is a run: a recipe, the state it has come to, and the devices that
// take it further.
type Session struct {
	recipe    *Recipe
	config    Config
	schedule  Schedule
	template  *models.Model  // graph, labels, preprocessing; its state is that of the start
	transform data.Transform // of the training data, with the recipe's augmentation
	wrapped   *graph.Graph
	program   *graph.Program
	trained   []string
	layers    []bn.Layer     // whose statistics the run updates; none in frozen mode
	kept      []kept         // theirs: those of the recipe first; none without layers
	late      *parallel.Late // gradients that wait; nil if none ever does
	driver    *parallel.Driver
	local     *parallel.Local            // replicas with weights of their own; nil if they have none
	own       []map[string]tensor.Tensor // by replica: for local, from a checkpoint
	state     map[string]tensor.Tensor   // to start from
	progress  Progress
	best      *best
	probe     parallel.Batch        // for the gap of the epoch; empty in its middle
	saved     int                   // step of the last checkpoint
	snapshot  *serialize.Checkpoint // what is written if all devices are lost
	began     time.Time
}

// Progress is how far a run has come. It is part of every checkpoint.
type Progress struct {
	Step     int     `json:"step"`      // optimizer steps done
	LossSum  float64 `json:"loss_sum"`  // of the epoch so far
	Correct  float64 `json:"correct"`   //
	Counted  float64 `json:"counted"`   //
	Seen     int     `json:"seen"`      // samples
	Repeated int     `json:"repeated"`  //
	Closed   int     `json:"closed"`    // step at which the last epoch ended
	Stale    int     `json:"stale"`     // evaluations since the best
	BestStep int     `json:"best_step"` // 0: none yet
	Best     float64 `json:"best"`      // figure of the best

	Late *parallel.Lateness `json:"late,omitempty"` // of gradients, with --weight-sync async:S
}

// New prepares a run of r that starts from m, whose state is initialised.
// Close frees what it holds; the devices stay the caller's.
func New(ctx context.Context, r *Recipe, m *models.Model, c Config) (*Session, error) {
	if m == nil {
		return nil, problem.New("model", "", "there is no model to train", "make one with modelfile.Start")
	}
	s := &Session{recipe: r, config: c, template: m, state: m.State}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s, s.open(ctx)
}

// Resume prepares to go on from a checkpoint. r is the recipe that the caller
// would run: it must be that of the checkpoint, but for what Differences allows.
func Resume(ctx context.Context, k *serialize.Checkpoint, r *Recipe, c Config) (*Session, error) {
	was, err := ParseRecipe(k.Recipe)
	if err != nil {
		return nil, err
	}
	if diff := r.Differences(was); len(diff) > 0 {
		return nil, &RecipeError{diff}
	}
	s := &Session{recipe: r, config: c, state: k.State}
	if s.template, _, err = serialize.Strip(k); err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if err := s.restore(k); err != nil {
		return nil, err
	}
	return s, s.open(ctx)
}

// RecipeError says in which fields a resumed recipe differs from that of the checkpoint.
type RecipeError struct{ Differences []Difference }

func (e *RecipeError) Error() string {
	var s []string
	end := "; start anew, or resume without these flags"
	for _, d := range e.Differences {
		s = append(s, d.String())
		if d.Field == "decoder" {
			end = "; its pixels differ: start anew, or go on with the release that wrote the checkpoint"
		}
	}
	return "the checkpoint is of another recipe: " + strings.Join(s, "; ") + end
}

// prepare derives graph, program and statistics from recipe and template.
func (s *Session) prepare() error {
	r := s.recipe
	if err := r.Check(); err != nil {
		return err
	}
	if err := s.takeData(); err != nil {
		return err
	}
	var err error
	if s.schedule, err = NewSchedule(r); err != nil {
		return err
	}
	s.wrapped, err = parallel.Wrap(s.template.Graph, parallel.Options{Replicas: r.StepReplicas(),
		BN: r.BN, Stats: r.BNStats, MinRunning: r.BNMin == "running"})
	if err != nil {
		return err
	}
	if s.trained, err = Trained(s.template.Graph, r.Freeze); err != nil {
		return err
	}
	if s.program, err = Program(r, s.template.Graph, s.wrapped, s.trained); err != nil {
		return err
	}
	s.startLate()
	if r.BN == bn.Frozen {
		return nil
	}
	if s.layers, err = bn.Layers(s.wrapped.Main); err != nil {
		return err
	}
	if err := s.feasible(); err != nil {
		return err
	}
	return s.keep()
}

// feasible checks before the first step that no batch norm will meet too few
// values: the full batch and the tail are all there is.
func (s *Session) feasible() error {
	r := s.recipe
	if r.BNMin == "running" {
		return nil
	}
	var splits []bn.Split
	for _, b := range []struct {
		what string
		rows int
	}{{"the full batch", min(r.Data.Samples, r.StepBatch())}, {"the tail", r.Data.Samples % r.StepBatch()}} {
		if sl := r.Tail.Slice(b.rows, r.StepBatch(), r.StepReplicas()); b.rows > 0 && sl.Rows() > 0 {
			splits = append(splits, bn.Split{What: b.what, Rows: sl.Sizes})
		}
	}
	return bn.Feasible(s.layers, r.BN, splits)
}

// Trained returns the names of the state tensors that training changes: those
// of trained roles that no pattern freezes.
func Trained(g *graph.Graph, freeze []string) ([]string, error) {
	frozen, err := models.Frozen(g.State, freeze)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, st := range g.State {
		if st.Role.Trained() && !frozen[st.Name] {
			out = append(out, st.Name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("model %s has nothing left to train", g.Name)
	}
	return out, nil
}

// Program assembles the program of a run: train, commit and predict over one
// table of state. With re-estimation or an average of the weights there is
// estimate too.
func Program(r *Recipe, template, wrapped *graph.Graph, trained []string) (*graph.Program, error) {
	p := &graph.Program{Name: template.Name, State: slices.Clone(template.State)}
	train, err := parallel.TrainFunction(wrapped, parallel.Loss{Smoothing: r.LabelSmoothing,
		Seed: int64(r.Seed), Trained: trained, Apart: r.apart()})
	if err != nil {
		return nil, err
	}
	commit, err := CommitFunction(r, &p.State, trained)
	if err != nil {
		return nil, err
	}
	predict, err := parallel.PredictFunction(template)
	if err != nil {
		return nil, err
	}
	p.Functions = []*graph.Function{train, commit, predict}
	if r.BNPrecise > 0 || r.EMA > 0 || r.local() {
		estimate, err := parallel.EstimateFunction(wrapped)
		if err != nil {
			return nil, err
		}
		p.Functions = append(p.Functions, estimate)
	}
	return p, p.Check()
}

// open loads the program on the devices.
func (s *Session) open(ctx context.Context) error {
	if s.recipe.EMA > 0 {
		s.startAverages()
	}
	var err error
	s.driver, err = parallel.Open(ctx, s.program, s.state, s.config.Devices, parallel.Config{
		Replicas: s.recipe.StepReplicas(), Batch: s.recipe.StepBatch(), Reopen: s.config.Reopen,
		Placement: s.config.Placement, BySpeed: s.config.BySpeed,
		Template: s.recipe.WeightSync == parallel.Template, Local: s.recipe.local(),
		Timeout: s.config.DeviceTimeout, Lost: s.lost, Back: s.back,
		Rendezvous: s.config.Rendezvous, Slower: s.slower})
	if err != nil {
		return err
	}
	return s.startLocal()
}

// startAverages begins the averages at the weights, unless a checkpoint brought them.
func (s *Session) startAverages() {
	for _, name := range s.trained {
		if _, ok := s.state["average/"+name]; !ok {
			s.state["average/"+name] = s.state[name]
		}
	}
}

func (s *Session) lost(e parallel.LossEvent) {
	s.emit(DeviceLost{Device: e.Device, Step: s.progress.Step, Reason: e.Reason.Error(), MovedTo: e.MovedTo})
}

func (s *Session) back(e parallel.BackEvent) {
	s.emit(DeviceBack{Device: e.Device, Step: s.progress.Step})
}

func (s *Session) slower(why error) {
	s.emit(AtHost{Level: device.Stream, Reason: why.Error()})
}

func (s *Session) emit(e Event) {
	if s.config.Events != nil {
		s.config.Events(e)
	}
}

// Close frees what the session holds on the devices.
func (s *Session) Close() error {
	if s.driver == nil {
		return nil
	}
	return s.driver.Close()
}
