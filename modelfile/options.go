package modelfile

import (
	"bytes"
	"io"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Options say what of a file is the model, and how it takes pictures. The zero
// value takes what the file says of itself. Arch, Key, Drop, Rename, Input and EMA are
// about files of other programs: bnctl's own are refused with them.
type Options struct {
	// Arch is what a file of mere tensors holds: a name of the zoo, or the path of
	// a graph in text form, of the JSON of a Keras model or of Caffe's
	// deploy.prototxt. "": found by the tensors.
	Arch   string
	Key    string   // of the state dict in a PyTorch checkpoint; "": the one that has a model's parameters
	Drop   []string // patterns of names of tensors to leave out
	Rename []string // REGEX=REPLACEMENT: other names for tensors, see formats.Options
	// Input is the shape of one sample, [C,H,W] for images, where the graph in a
	// file leaves that open.
	Input []int
	// Size is height and width of pictures for a model that can take several: of the
	// zoo, of a graph in text form, of a file that leaves it open. Zero: the model's
	// own. Channels may be 0, which leaves them as they are.
	Size models.Size
	EMA  bool // the average of the weights, not the weights
	// Epoch is that whose weights are taken of a checkpoint of bnctl: "last", "best", or "":
	// that of the run's template.
	Epoch string
	Merge bn.Rule // how statistics of several ranks or replicas become one; "": as in the file
	// Labels are the names of the classes, one for each; nil: those of the file.
	Labels       []string
	UniqueLabels bool // Labels say which class of data is which: none may be there twice
	Preprocess   Preprocess
	training     bool           // the model is to be trained: its graph may be in the form of training
	memory       *tensor.Region // where large weights of a graph are put; nil: the heap
	// Option returns what the program's users call an option, for what a Choice says;
	// nil: its name.
	Option func(name string) string
}

// Preprocess says how pictures become the input of a model. The zero value
// takes what the file says.
type Preprocess struct {
	// Name is one of preprocessings; "": that of the file, or "unit" with Mean or Std.
	Name string
	// Mean and Std, one number for each channel, stand in place of those of Name; nil:
	// those of Name. They are in units of x/255, or with raw and caffe in units of
	// pixels, and with caffe in the order B, G, R.
	Mean, Std []float64
	// EXIF is data.ApplyEXIF or data.IgnoreEXIF, for the orientation in picture files;
	// "": as the model was trained.
	EXIF          string
	Interpolation string // "bilinear" or "bicubic": how pictures are resized; "": as the model says
}

// Foreign returns what o says of the files of other programs. It reads the
// file that Arch names, if that describes a model of Keras or Caffe.
func (o *Options) Foreign() (formats.Options, error) {
	f := formats.Options{Key: o.Key, Drop: o.Drop, Rename: o.Rename, Input: o.Input, EMA: o.EMA, Merge: o.Merge,
		Training: o.training, Memory: o.memory}
	err := o.checkSize()
	if err == nil && o.Arch != "" {
		f.Description, err = description(o.Arch)
	}
	return f, err
}

// refuseForeign refuses options that are about files of other programs, for a reason.
func (o *Options) refuseForeign(why string) error {
	for _, given := range []struct {
		field string
		set   bool
	}{
		{"arch", o.Arch != ""},
		{"key", o.Key != ""},
		{"drop", len(o.Drop) > 0},
		{"rename", len(o.Rename) > 0},
		{"ema", o.EMA},
		{"input", len(o.Input) > 0},
	} {
		if given.set {
			return problem.New(given.field, "", "means nothing here: "+why, "leave it out")
		}
	}
	return nil
}

// description returns the content of a file that describes a Keras model in
// JSON, or a network of Caffe in text; nil if it does neither, or there is no
// such file.
func description(path string) ([]byte, error) {
	const most = 64 << 20
	f, err := regular.Open(path)
	if err != nil {
		return nil, nil // a name of the zoo
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	if formats.Describes(head[:n]) == "" {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), f), most))
}
