package predict

import (
	"context"
	"errors"
	"strconv"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Options are the devices of a predictor, and how it uses them. Only kernels and precision
// change the results.
type Options struct {
	// Fleet are the devices. Its Precision "" means the precision in training, which gives
	// the results of evaluation during training.
	Fleet fleet.Options
	// Opened are devices to use in place of Fleet. The caller closes them.
	Opened *fleet.Fleet
	Batch  int // rows at once, over all devices: at least 1
	// Stages divides the network into parts on different devices, with the same number of
	// devices for each part.
	Stages  stage.Spec
	Samples int // upper bound on samples, which also bounds the batch; 0: unknown
	// Peers are the ranks of the run; nil means this process alone. All have the same model
	// and samples, and each predicts its share.
	Peers *fabric.Peers
	// Reopen makes lost devices be opened again, and used once they are open. Otherwise
	// they stay lost.
	Reopen bool
	// Lost is called when a device is lost, Back when it is used again, or when a new one joins.
	// Each may be nil. The loss of the last device, unless it is reopened, is only returned as
	// the error of the pending call.
	Lost func(device string, reason error)
	Back func(device string)
	// Boxes are the limits of boxes that devices return instead of the outputs of a detector of the zoo,
	// if they have graph.Detect: see detect.OnDevice. detect.Detector accepts both. nil: devices return
	// the outputs. With Peers or Stages the devices return the outputs.
	Boxes *cells.Options
	// MostBoxes is the maximum number of boxes that PredictBoxes returns for a row. It is 0 if PredictBoxes
	// is not called, or if Boxes is set.
	MostBoxes int
	// Divided is called with the stages of the network, if there are several. It may be nil.
	Divided func(*stage.Plan)
}

// Predictor is a model on devices. One goroutine at a time uses it, except that several may
// call Predict. Predict accepts rows in memory; All and Evaluate read a source.
type Predictor struct {
	Model *models.Model
	Fleet *fleet.Fleet // the devices

	close  func() error // closes the devices
	driver driver       // used for prediction only
	peers  *fabric.Peers
	batch  int            // rows of all ranks
	staged bool           // layers are on several devices
	limits *cells.Options // limits of the boxes that the devices return; nil: they return the model's outputs
	most   int            // Options.MostBoxes
	boxes  bool           // the devices have detect.FindBoxes
}

// driver is a parallel.Driver, or a parallel.Pipeline of several.
type driver interface {
	Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error)
	Ahead() bool
	Rows() int
	OwnRows(rows int) (from, to int)
	Close() error
}

// Predict returns the outputs of the model for rows of x, [N, ...]: each with N rows. The
// result of a row depends neither on the other rows nor on the device. After an error that
// wraps parallel.NoDevices the predictor is no longer usable.
//
// With Options.Peers all ranks call it with the same rows. Each rank needs only its share
// of them, and all get all outputs.
func (p *Predictor) Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	if p.limits != nil {
		return p.predictInputs(ctx, graph.Predict, x, detect.LimitRows(x.Shape[0], *p.limits))
	}
	return p.driver.Predict(ctx, x)
}

// PredictBoxes returns the boxes that a detector of the zoo finds in rows of x. limits has a row for each row
// of x: see detect.LimitRows. The result has the form of graph.Detect, with Options.MostBoxes, and
// detect.Detector.Boxes accepts a row of it. Without graph.Detect on the devices this process computes the
// boxes, with the same bits. PredictBoxes may be called at the same time as Predict.
func (p *Predictor) PredictBoxes(ctx context.Context, x, limits tensor.Tensor) (tensor.Tensor, error) {
	if !p.boxes {
		outs, err := p.driver.Predict(ctx, x)
		if err != nil {
			return tensor.Tensor{}, err
		}
		return detect.OnHost(p.Model, outs[0], limits, p.most)
	}
	outs, err := p.predictInputs(ctx, detect.FindBoxes, x, limits)
	if err != nil {
		return tensor.Tensor{}, err
	}
	return outs[0], nil
}

// BoxesOnDevices reports whether the devices compute PredictBoxes.
func (p *Predictor) BoxesOnDevices() bool { return p.boxes }

func (p *Predictor) predictInputs(ctx context.Context, function string, inputs ...tensor.Tensor) (
	[]tensor.Tensor, error) {
	return p.driver.(*parallel.Driver).PredictInputs(ctx, function, inputs)
}

// Reuse returns outputs of a Predict that are no longer read, so that later outputs may use
// their memory. Without it they stay the caller's.
func (p *Predictor) Reuse(outputs []tensor.Tensor) {
	if d, ok := p.driver.(*parallel.Driver); ok {
		d.Reuse(outputs)
	}
}

// Ahead reports whether a Predict that is called while another is under way reaches the devices
// before the other one ends.
func (p *Predictor) Ahead() bool { return p.driver.Ahead() }

// Rows returns the maximum number of rows that Predict runs at once.
func (p *Predictor) Rows() int {
	if p.peers != nil && !p.staged {
		return p.batch
	}
	return p.driver.Rows()
}

// Rank returns the rank of this process in Options.Peers, or 0 without Peers. All hands the
// predictions of all ranks to rank 0.
func (p *Predictor) Rank() int {
	if p.peers == nil {
		return 0
	}
	return p.peers.Rank()
}

// Open opens devices and loads on them only the program that evaluates m during training. An int8 template
// defines its precision, with device.F32 for the rest: any other precision is refused. The caller closes the
// predictor, and must not change m until then. The error is a *problem.Error or a *problem.Unknown for
// invalid options.
func Open(ctx context.Context, m *models.Model, o Options) (*Predictor, error) {
	if m == nil {
		return nil, problem.New("model", "", "a model to predict with is missing",
			"open one with modelfile.OpenReadOnly")
	}
	if o.Batch < 1 {
		return nil, problem.New("batch", strconv.Itoa(o.Batch), "want at least 1", "")
	}
	program, err := spmd.PredictProgram(m.Graph)
	if err != nil {
		return nil, err
	}
	if o.Samples > 0 {
		o.Batch = min(o.Batch, o.Samples)
	}
	if err := checkBatch(program.Functions[0], o.Batch); err != nil {
		return nil, err
	}
	switch { // an int8 template has its precision in its graph; the rest is float32
	case m.Int8() && o.Fleet.Precision != "" && o.Fleet.Precision != device.F32:
		return nil, problem.New("precision", o.Fleet.Precision, "the template is int8: it defines the computation",
			"leave it out")
	case m.Int8():
		o.Fleet.Precision = device.F32
	case o.Fleet.Precision == "":
		o.Fleet.Precision = TrainedOn(m).Precision
	}
	p := &Predictor{Model: m, peers: o.Peers, batch: o.Batch, staged: !o.Stages.One(), most: o.MostBoxes}
	o.Fleet.Peers = o.Peers
	if p.Fleet, p.close = o.Opened, func() error { return nil }; p.Fleet == nil {
		if p.Fleet, err = fleet.Open(ctx, o.Fleet); err != nil {
			return nil, err
		}
		p.close = p.Fleet.Close
	}
	c := o.config(p.Fleet)
	c.Referee = func(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
		return Runner(ctx, fleet.Options{Devices: "cpu"})(m, x)
	}
	if err = o.agree(ctx, m, &c); err == nil {
		err = p.drive(ctx, &o, program, c)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// drive loads the program on the devices, with boxes as its outputs if that is possible.
func (p *Predictor) drive(ctx context.Context, o *Options, program *graph.Program, c parallel.Config) (
	err error) {
	boxes, state, ok, err := p.withBoxes(o, program)
	if err != nil {
		return err
	}
	if ok {
		d, err := parallel.Open(ctx, boxes, state, p.Fleet.Members, c)
		if err == nil {
			p.driver, p.limits, p.boxes = d, o.Boxes, o.Boxes == nil
			return nil
		}
		if !errors.Is(err, device.Unsupported) && !errors.Is(err, device.OutOfMemory) {
			return err
		}
	}
	p.driver, err = o.drive(ctx, p.Model, program, p.Fleet.Members, p.Fleet.Precision(), c)
	return err
}

// withBoxes returns the program for Options.Boxes or Options.MostBoxes, and its state. ok is false if
// neither is set, or if devices cannot compute boxes of the model.
func (p *Predictor) withBoxes(o *Options, program *graph.Program) (boxes *graph.Program,
	state map[string]tensor.Tensor, ok bool, err error) {
	switch {
	case o.Peers != nil || p.staged:
		return nil, nil, false, nil
	case o.Boxes != nil:
		return detect.OnDevice(program, p.Model, o.Boxes.Most)
	case o.MostBoxes > 0:
		return detect.WithBoxes(program, p.Model, o.MostBoxes)
	}
	return nil, nil, false, nil
}

// drive loads a program on devices: all layers on each, or the layers of a stage.
func (o *Options) drive(ctx context.Context, m *models.Model, p *graph.Program, devices []parallel.Member,
	precision string, c parallel.Config) (driver, error) {
	if o.Stages.One() {
		return parallel.Open(ctx, p, m.State, devices, c)
	}
	s := o.Stages
	s.BF16 = precision == device.BF16
	return parallel.OpenPipeline(ctx, m.Graph, p, s, m.State, devices, c)
}

// config returns the configuration of the driver of f.
func (o *Options) config(f *fleet.Fleet) parallel.Config {
	n := len(f.Members)
	var joins <-chan parallel.Member
	if o.Opened == nil {
		joins = f.Joins()
	}
	if joins != nil {
		n = max(n, o.Batch) // a device that joins needs a replica
	}
	c := parallel.Config{Replicas: n, Batch: max(o.Batch, n), Divided: o.Divided, Joins: joins}
	if o.Peers == nil {
		c.Samples = o.Samples
	}
	if o.Reopen || joins != nil {
		c.Reopen = f.Reopen
	}
	if o.Lost != nil {
		c.Lost = func(e parallel.LostDevice) {
			if o.Reopen || len(e.MovedTo) > 0 {
				o.Lost(e.Device, e.Reason)
			}
		}
	}
	if o.Back != nil {
		c.Back = func(e parallel.RejoinedDevice) { o.Back(e.Device) }
	}
	return c
}

// Close frees the executables and closes the devices, except those of Options.Opened. It joins the errors
// of both.
func (p *Predictor) Close() error { return errors.Join(p.driver.Close(), p.close()) }

// Terms returns the terms on which p runs the model.
func (p *Predictor) Terms() Terms {
	kernels, _ := parallel.KernelClass(p.Fleet.Members)
	return Terms{Kernels: kernels, Precision: p.Fleet.Precision()}
}
