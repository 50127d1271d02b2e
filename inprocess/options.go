package inprocess

import (
	"strconv"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/problem"
)

// Options define how a model is loaded. Only File, Arrays, Kernels and Precision change outputs.
type Options struct {
	File modelfile.Options // how the model is read, and how pictures become its input
	// Arrays makes the predictor accept preprocessed arrays, f32 [N,C,H,W], instead of pictures.
	Arrays bool
	// Kernels is the kernel class: "fma", "generic" or "amx"; "" or "auto" is the best at Precision.
	Kernels string
	// Precision is device.F32 or device.BF16; "" is the precision in training.
	Precision string
	Threads   int // 0: GOMAXPROCS when the model is loaded
	// Batch is the maximum number of rows of a batch. Run divides more rows into several batches,
	// and the end of a context ends a call between two batches. 0 means 32, or fewer if the memory
	// is not enough for 32 rows.
	Batch int
	// Memory is the maximum number of bytes that the predictor may use; 0 is the available memory of the
	// machine, if the system reports it.
	Memory int64
	Top    int // number of classes in a Prediction; 0: 5
}

const (
	usualBatch = 32
	usualTop   = 5
)

// check returns an error if a number is invalid.
func (o *Options) check() error {
	for _, n := range []struct {
		option string
		value  int64
	}{{"threads", int64(o.Threads)}, {"batch", int64(o.Batch)}, {"memory", o.Memory}, {"top", int64(o.Top)}} {
		if n.value < 0 {
			return problem.New(n.option, strconv.FormatInt(n.value, 10), "want at least 1, or 0 for the default", "")
		}
	}
	return nil
}

// precision returns the precision for m.
func (o *Options) precision(m *models.Model) (string, error) {
	switch {
	case m.Int8() && o.Precision != "" && o.Precision != device.F32:
		return "", problem.New("precision", o.Precision, "the template is int8: it defines the computation",
			"leave it out")
	case m.Int8():
		return device.F32, nil
	case o.Precision == "":
		return answer.TrainedOn(m).Precision, nil
	}
	return o.Precision, nil
}
