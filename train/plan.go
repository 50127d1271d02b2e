package train

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// plan has everything that recipe and template determine, before any device is used. It never changes
// after newPlan: facts about devices and other ranks are in the Session.
type plan struct {
	recipe       *recipe.Recipe
	config       Config
	schedule     recipe.Schedule
	template     *models.Model // graph, labels, preprocessing; its state is the initial one
	wrapped      *graph.Graph
	transform    data.Transform // transform of the training data, with the recipe's augmentation
	program      *graph.Program
	trained      []string
	loss         evaluation.TrainingLoss
	slots        cells.Slots // slots of a detector; nil for other models
	detected     int         // classes of a detector
	classWeights []float64   // weights of classes in the loss; nil: 1
	layers       []bn.Layer  // layers with statistics that the run updates; empty in frozen mode
}

// newPlan derives schedule, graph and program from recipe and template.
func newPlan(r *recipe.Recipe, template *models.Model, c Config) (*plan, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := template.CheckWhole(); err != nil {
		return nil, err
	}
	p := &plan{recipe: r, config: c, template: template}
	if err := p.takeRank(); err != nil {
		return nil, err
	}
	if err := p.takeData(); err != nil {
		return nil, err
	}
	var err error
	if p.schedule, err = recipe.NewSchedule(r); err != nil {
		return nil, err
	}
	p.wrapped, err = spmd.Wrap(p.template.Graph, spmd.Options{Replicas: r.StepReplicas(),
		BN: r.BN, Stats: r.BNStats, MinRunning: r.BNMin == "running"})
	if err != nil {
		return nil, err
	}
	if p.trained, err = Trained(p.template.Graph, r.Freeze); err != nil {
		return nil, err
	}
	if err = r.CheckLROf(p.trained); err != nil {
		return nil, err
	}
	if p.loss, err = r.TrainingLoss(classesOf(p.template.Graph)); err != nil {
		return nil, err
	}
	if err = p.takeSlots(); err != nil {
		return nil, err
	}
	if p.classWeights, err = r.WeightsOfClasses(classesOf(p.template.Graph)); err != nil {
		return nil, err
	}
	if p.program, err = Program(r, p.template.Graph, p.wrapped, p.trained); err != nil {
		return nil, err
	}
	if r.BN == bn.Frozen {
		return p, nil
	}
	if p.layers, err = bn.Layers(p.wrapped.Main); err != nil {
		return nil, err
	}
	return p, p.feasible()
}

// feasible returns an error, before the first step, if some batch norm would have too few values. It checks
// the full batch, and the tail if the run reaches the end of an epoch.
func (p *plan) feasible() error {
	r := p.recipe
	if r.BNMin == "running" {
		return nil
	}
	var splits []bn.Partition
	for _, b := range []struct {
		what string
		rows int
	}{{"the full batch", min(r.Data.Samples, r.StepBatch())}, {"the tail", r.Data.Samples % r.StepBatch()}} {
		if b.what == "the tail" && r.TotalSteps() < r.StepsPerEpoch() {
			continue
		}
		if sl := r.Tail.Slice(b.rows, r.StepBatch(), r.StepReplicas()); b.rows > 0 && sl.Rows() > 0 {
			splits = append(splits, bn.Partition{What: b.what, Rows: sl.Sizes})
		}
	}
	return bn.Feasible(p.layers, r.BN, splits)
}

// Trained returns the names of the state tensors that the optimizer changes:
// weights, biases, gammas and betas that match no pattern of freeze.
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

// Program returns the program of a run, with the functions train, commit and predict over one table of
// state. If r re-estimates statistics or averages weights, it also has the function estimate. trained are
// the names that Trained returns.
func Program(r *recipe.Recipe, template, wrapped *graph.Graph, trained []string) (*graph.Program, error) {
	p := &graph.Program{Name: template.Name, State: slices.Clone(template.State)}
	classWeights, err := r.WeightsOfClasses(classesOf(template))
	if err != nil {
		return nil, err
	}
	if err := r.CheckAuxiliary(template, trained); err != nil {
		return nil, err
	}
	l, err := evaluation.ParseLoss(r.Loss)
	if err != nil {
		return nil, err
	}
	if r.Augment.Mixes() && l.Of != losses.CrossEntropy {
		return nil, problem.New("augment", r.Augment.String(),
			"it mixes samples of classes, and the loss of the labels is "+
				r.Loss, "leave mixup and cutmix out")
	}
	loss := losses.Loss{Of: l.Of, HuberDelta: l.Delta, Smoothing: r.LabelSmoothing, Weights: classWeights,
		Mixed: r.Augment.Mixes(), Objects: r.MostBoxes, Maps: mapsOf(l, template)}
	train, err := spmd.TrainFunction(wrapped, spmd.Training{Loss: loss, Auxiliary: r.AuxWeight,
		Seed: int64(r.Seed), Trained: trained, PerReplica: r.HasLateGradients()})
	if err != nil {
		return nil, err
	}
	commit, err := commitFunction(r, &p.State, trained)
	if err != nil {
		return nil, err
	}
	answers, err := template.WithoutAuxiliary()
	if err != nil {
		return nil, err
	}
	predict, err := spmd.PredictFunction(answers)
	if err != nil {
		return nil, err
	}
	p.Functions = []*graph.Function{train, commit, predict}
	if r.BNPrecise > 0 || r.EMA > 0 || r.HasSeparateWeights() {
		estimate, err := spmd.EstimateFunction(wrapped)
		if err != nil {
			return nil, err
		}
		p.Functions = append(p.Functions, estimate)
	}
	return p, p.Check()
}

// classesOf returns the number of classes in the first output of a graph.
func classesOf(g *graph.Graph) int {
	shape := g.Main.Values[g.Main.Outputs[0].Value].Type.Shape
	if len(shape) == 0 {
		return 0
	}
	return shape[0]
}

// pack makes a checkpoint of a state.
func (p *plan) pack(state map[string]tensor.Tensor) *serialize.Checkpoint {
	return &serialize.Checkpoint{Architecture: p.template.Architecture, Graph: p.wrapped,
		Preprocess: p.template.Preprocess, Labels: p.template.Labels, FileTypes: p.template.FileTypes,
		FileTensors: p.template.FileTensors,
		Recipe:      p.recipe.JSON(), Float: p.template.Float, State: state, Training: p.trainingState()}
}

// trainingState returns the state that only training needs.
func (p *plan) trainingState() []graph.State { return p.program.State[len(p.template.Graph.State):] }

// inputName names the model's input.
func (p *plan) inputName() string { return p.wrapped.Main.Values[p.wrapped.Main.Inputs[0]].Name }

// watched reports the progress of the run to Config.Watch.
func (p *plan) watched(m Moment) {
	if p.config.Watch != nil {
		m.Epoch = max((m.Step-1)/max(p.recipe.StepsPerEpoch(), 1)+1, 1)
		p.config.Watch(m)
	}
}

func (p *plan) emit(e Event) {
	if p.config.Events != nil {
		p.config.Events(e)
	}
}
