package train

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Session is a run: a recipe, its current state, and the devices. It reads the
// data, makes the steps, evaluates and reports events.
type Session struct {
	plan         *plan
	devices      devices
	trainer      *trainer
	checkpointer checkpointer
	probe        parallel.Batch // batch for the gap of the epoch; empty in the middle of the epoch
	norms        normsWatch     // values for Norms
	losses       []Losses       // losses of devices
	divided      *parallel.Plan // plan of the stages; nil: all devices have all layers
	began        time.Time
	measured     int // number of steps until reportMachines is due
}

// New returns a session that is ready to run r from m, with the initialised state of m. The caller
// closes the session, and still owns the devices. After an error New holds no device and no memory.
// The error is a *problem.Error if r, m and c do not fit each other, or the context's cause if the
// context has ended. Otherwise it is an error of a device.
func New(ctx context.Context, r *recipe.Recipe, m *models.Model, c Config) (*Session, error) {
	if m == nil {
		return nil, problem.New("model", "", "a model to train is missing", "make one with modelfile.Start")
	}
	if err := m.Trainable("model", m.Architecture); err != nil {
		return nil, err
	}
	s, err := newSession(r, m, m.State, c)
	if err != nil {
		return nil, err
	}
	if err := s.trainer.startChain(m.State, nil); err != nil {
		return nil, err
	}
	return s.opened(ctx, m.State, nil)
}

// Resume returns a session that continues from a checkpoint. r is the recipe of the rest of the run. It must
// equal the recipe of the checkpoint, except for changes that Differences permits; otherwise the error is a
// *RecipeError. Other errors are the same as for New.
func Resume(ctx context.Context, k *serialize.Checkpoint, r *recipe.Recipe, c Config) (*Session, error) {
	if k == nil || r == nil {
		return nil, problem.New("resume", "", "a checkpoint with a recipe is missing",
			"read them with serialize.ReadCheckpoint and ParseRecipe")
	}
	was, err := recipe.Parse(k.Recipe)
	if err != nil {
		return nil, err
	}
	if diff := r.Differences(was); len(diff) > 0 {
		return nil, &RecipeError{diff}
	}
	template, err := serialize.Unwrap(k)
	if err != nil {
		return nil, err
	}
	s, err := newSession(r, template, k.State, c)
	if err != nil {
		return nil, err
	}
	if err := s.trainer.restore(k); err != nil {
		return nil, err
	}
	if err := s.trainer.startChain(nil, k); err != nil {
		return nil, err
	}
	return s.opened(ctx, k.State, k)
}

// newSession returns a run that begins with some state and has no devices yet.
func newSession(r *recipe.Recipe, template *models.Model, state map[string]tensor.Tensor, c Config) (
	*Session, error) {
	p, err := newPlan(r, template, c)
	if err != nil {
		return nil, err
	}
	t := &trainer{plan: p}
	if t.statistics, err = newStatistics(p, state); err != nil {
		return nil, err
	}
	saves := checkpointer{plan: p, trainer: t, every: p.interval()}
	return &Session{plan: p, trainer: t, checkpointer: saves}, nil
}

// RecipeError lists the fields that differ between a resumed recipe and the checkpoint's.
type RecipeError struct{ Differences []recipe.Difference }

func (e *RecipeError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the *problem.Error.
func (e *RecipeError) Unwrap() error {
	var s []string
	advice := "start anew, or resume without these options"
	for _, d := range e.Differences {
		s = append(s, d.String())
		switch d.Field {
		case "parts", "classes":
			advice = "its bits differ: continue with a release that has these numbers, or start anew from its " +
				"weights with {init}"
		case "decoder":
			advice = "its pixels differ: start again, or continue with the release that wrote the checkpoint"
		case "release":
			advice = "it lists no numbers of parts, so its bits are promised within one release: continue with " +
				"the release that wrote the checkpoint, or start anew from its weights with {init}"
		}
	}
	return problem.New("resume", "", "the checkpoint is of another recipe: "+strings.Join(s, "; "), advice)
}

// opened returns s, ready to run. If it cannot be opened, the result is nil and s holds no device and
// no memory.
func (s *Session) opened(ctx context.Context, state map[string]tensor.Tensor, c *serialize.Checkpoint) (
	*Session, error) {
	if err := s.open(ctx, state, c); err != nil {
		if ctx.Err() != nil { // devices report the end of the context in other words
			err = context.Cause(ctx)
		}
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open loads the program on the devices, with the initial state. from is the checkpoint of that state, or
// nil.
func (s *Session) open(ctx context.Context, state map[string]tensor.Tensor,
	from *serialize.Checkpoint) error {
	var err error
	if s.devices, err = borrow(s.plan); err != nil {
		return err
	}
	if s.plan.recipe.EMA > 0 {
		state = s.withAverages(state)
	}
	tight, err := s.agree(ctx, state, from)
	if err != nil {
		return err
	}
	if err := s.drive(ctx, tight, state); err != nil {
		return err
	}
	if from != nil {
		return s.trainer.weights.restore(from, &s.trainer.progress)
	}
	return nil
}

// longRun is the minimum number of steps for which it pays to measure where to divide a network.
const longRun = 32

// driverConfig returns the configuration of the driver.
func (s *Session) driverConfig() parallel.Config {
	c, r := &s.plan.config, s.plan.recipe
	return parallel.Config{Replicas: r.StepReplicas(), Batch: r.StepBatch(), Reopen: s.devices.reopen,
		Joins: s.devices.joins, Peers: c.Peers, Placement: c.Placement, BySpeed: c.BySpeed,
		Template: r.WeightSync == weightsync.Template, Local: r.HasSeparateWeights(),
		Timeout: c.DeviceTimeout, Lost: s.lost, Back: s.back,
		Rendezvous: s.devices.rendezvous, Slower: s.slower, Divided: s.divide, Moved: s.moved,
		Audit:   s.audits(),
		Measure: c.Divided != nil || r.TotalSteps() >= longRun}
}

// withAverages returns a state with averages, which begin at the weights unless a checkpoint brought
// them.
func (s *Session) withAverages(state map[string]tensor.Tensor) map[string]tensor.Tensor {
	state = maps.Clone(state)
	for _, name := range s.plan.trained {
		if average := serialize.AverageName(name); state[average].Shape == nil {
			state[average] = state[name]
		}
	}
	return state
}

func (s *Session) lost(e parallel.LostDevice) {
	i := slices.IndexFunc(s.losses, func(l Losses) bool { return l.Device == e.Device })
	if i < 0 {
		i, s.losses = len(s.losses), append(s.losses, Losses{Device: e.Device})
	}
	l := &s.losses[i]
	l.Times++
	reason, advice := problem.Split(e.Reason)
	if advice != "" {
		reason += "; " + s.plan.config.withOptionNames(advice)
	}
	if e.Excluded != "" {
		l.Excluded, reason = e.Excluded, reason+"; "+e.Excluded
	}
	s.plan.emit(DeviceLost{Device: e.Device, Step: s.trainer.progress.Step, Reason: reason, MovedTo: e.MovedTo,
		Excluded: e.Excluded})
}

func (s *Session) back(e parallel.RejoinedDevice) {
	if e.New {
		s.plan.emit(DeviceJoined{Device: e.Device, Step: s.trainer.progress.Step})
		return
	}
	s.plan.emit(DeviceBack{Device: e.Device, Step: s.trainer.progress.Step})
}

func (s *Session) slower(why error) {
	s.plan.emit(AtHost{Level: device.Stream, Reason: why.Error()})
}

// ExtraStatistics returns the current running statistics of Config.ExtraStatistics, in that
// order, by the names of state tensors.
func (s *Session) ExtraStatistics() ([]map[string]tensor.Tensor, error) {
	return s.trainer.statistics.extra()
}

// Close frees the session's memory on the devices and gives them back. It may
// be called twice.
func (s *Session) Close() error {
	var err error
	if s.trainer.driver != nil {
		err = s.trainer.driver.Close()
	}
	if s.devices.giveBack != nil {
		s.devices.giveBack()
	}
	s.trainer.driver, s.devices.giveBack = nil, nil
	return err
}
