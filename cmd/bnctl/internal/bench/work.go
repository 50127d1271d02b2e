package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// inference repeats the prediction of one batch.
type inference struct {
	predictor
	model *models.Model
	rows  tensor.Tensor
	// ended receives the error of each batch in flight, or nil. It is used if the network is on several devices,
	// so that each device has a batch to compute while the others compute. With one device ended is nil.
	ended chan error
}

// predictor is a parallel.Driver or a parallel.Pipeline.
type predictor interface {
	Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error)
	Close() error
}

// startInference loads the program that training uses for evaluation.
func startInference(ctx context.Context, m *models.Model, members []parallel.Member, batch int,
	s stage.Spec, divided func(*stage.Plan)) (*inference, error) {
	rows, err := models.RandomInput(m, batch)
	if err != nil {
		return nil, err
	}
	program, err := spmd.PredictProgram(m.Graph)
	if err != nil {
		return nil, err
	}
	c := parallel.Config{Replicas: len(members), Batch: max(batch, len(members)), Divided: divided}
	if s.One() {
		d, err := parallel.Open(ctx, program, m.State, members, c)
		if err != nil {
			return nil, err
		}
		return &inference{d, m, rows, nil}, nil
	}
	p, err := parallel.OpenPipeline(ctx, m.Graph, program, s, m.State, members, c)
	if err != nil {
		return nil, err
	}
	i := &inference{p, m, rows, make(chan error, batchesAtOnce)}
	for range batchesAtOnce {
		i.begin(ctx)
	}
	return i, nil
}

// batchesAtOnce is the number of batches in flight if the network is on several stages.
const batchesAtOnce = 3

// begin starts a prediction. It sends the error of the prediction, or nil, to ended.
func (i *inference) begin(ctx context.Context) {
	go func() {
		outs, err := i.Predict(ctx, i.rows)
		i.ended <- i.afterwards(outs, err)
	}()
}

// Step makes one prediction. If several batches are in flight, it waits for the first of them.
func (i *inference) Step(ctx context.Context) (parallel.Timing, error) {
	if i.ended == nil {
		outs, err := i.Predict(ctx, i.rows)
		err = i.afterwards(outs, err)
		if d, ok := i.predictor.(*parallel.Driver); ok && err == nil {
			d.Reuse(outs)
		}
		return parallel.Timing{}, err
	}
	err := <-i.ended
	i.begin(ctx)
	return parallel.Timing{}, err
}

// afterwards computes those last nodes of a file that the host computes, if there are any.
func (i *inference) afterwards(outs []tensor.Tensor, err error) error {
	if err == nil && i.model.Tail != nil {
		_, err = i.model.FileRows(outs)
	}
	return err
}

// Close waits for batches in flight, and frees the state on the devices.
func (i *inference) Close() error {
	for range cap(i.ended) {
		<-i.ended
	}
	return i.predictor.Close()
}

// Training makes training steps of a recipe, always on the same batch, which is generated: random inputs that
// all belong to the first class.
type Training struct {
	driver train.Driver
	batch  parallel.Batch
	hyper  device.Hyper
}

// StartTraining loads the training program of r for m on devices. The caller closes the result; the devices
// remain the caller's. If s has several stages, divided is called with them, unless it is nil.
func StartTraining(ctx context.Context, r *recipe.Recipe, m *models.Model, members []parallel.Member,
	s stage.Spec, divided func(*stage.Plan)) (*Training, error) {
	schedule, err := recipe.NewSchedule(r)
	if err != nil {
		return nil, err
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: r.Replicas, BN: r.BN, Stats: r.BNStats})
	if err != nil {
		return nil, err
	}
	trained, err := train.Trained(m.Graph, nil)
	if err != nil {
		return nil, err
	}
	program, err := train.Program(r, m.Graph, wrapped, trained)
	if err != nil {
		return nil, err
	}
	c := parallel.Config{Replicas: r.Replicas, Batch: r.Batch, Rendezvous: remote.Rendezvous{}, Divided: divided,
		Measure: true}
	d, err := openTraining(ctx, m, program, members, s, c)
	if err != nil {
		return nil, err
	}
	batch, err := randomBatch(m, r) // only now, because the devices have checked that there is enough memory
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &Training{d, batch, train.Hyper(r, schedule, 0, 0)}, nil
}

// openTraining loads program on devices. Each device gets all layers, or the layers of one stage.
func openTraining(ctx context.Context, m *models.Model, program *graph.Program, members []parallel.Member,
	s stage.Spec, c parallel.Config) (train.Driver, error) {
	if s.One() {
		return parallel.Open(ctx, program, m.State, members, c)
	}
	return parallel.OpenStaged(ctx, m.Graph, program, s, m.State, members, c)
}

// Step makes one step: forward, backward, exchange and update. The learning rate is always that of the first
// step.
func (t *Training) Step(ctx context.Context) (parallel.Timing, error) {
	result, err := t.driver.Step(ctx, t.batch)
	if err != nil {
		return parallel.Timing{}, err
	}
	return result.Timing, t.driver.Commit(ctx, t.hyper)
}

// Close frees the state of the training on the devices.
func (t *Training) Close() error { return t.driver.Close() }

// randomBatch returns a batch of random inputs. All labels are 0 or, for a loss of boxes, without objects.
func randomBatch(m *models.Model, r *recipe.Recipe) (parallel.Batch, error) {
	f := m.Graph.Main
	x, err := models.RandomInput(m, r.Batch)
	shape := f.Values[f.Outputs[0].Value].Type.Shape
	if err == nil && len(shape) == 0 {
		err = fmt.Errorf("model %s has one output for each sample, and training needs classes", m.Architecture)
	}
	if err != nil {
		return parallel.Batch{}, err
	}
	labels := tensor.New(tensor.I32, append([]int{r.Batch}, shape[1:]...)...)
	b := parallel.Batch{Sizes: parallel.Split(r.Batch, r.Replicas), Inverse: 1 / float32(labels.Count()),
		Rows: map[string]tensor.Tensor{
			f.Values[f.Inputs[0]].Name: x,
			losses.InputLabels:         labels,
			spmd.InputIdent:            tensor.New(tensor.I64, r.Batch, 2),
		}}
	return b, train.AddNoObjects(b.Rows, m, r)
}
