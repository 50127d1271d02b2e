package modelfile

import (
	"bytes"
	"io"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Options select the model in a file and define how it reads pictures. The zero value uses
// the information in the file. Arch, Key, Drop, Rename, Input, EMA and QDQ apply only to files
// of other programs; they are refused for bnctl files.
type Options struct {
	// Arch is the architecture of a file of tensors without a graph: a name of the zoo, or
	// the path of a graph in text form, of the JSON of a Keras model or of Caffe's
	// deploy.prototxt. "" finds it by the tensors.
	Arch   string
	Key    string   // key of the state dict in a PyTorch checkpoint; "": the one with a model's parameters
	Drop   []string // patterns of names of tensors to leave out
	Rename []string // REGEX=REPLACEMENT: other names for tensors, see formats.Options
	// Input is the shape of one sample, [C,H,W] for images, if the graph in a file leaves
	// it open.
	Input []int
	// Inputs are the shapes of samples of several inputs, by name.
	Inputs map[string][]int
	// Size is the height and width of pictures, for a model that accepts several sizes: a
	// model of the zoo, a graph in text form, or a file that leaves it open. The zero value
	// keeps the model's size. Channels may be 0, which keeps the number of channels.
	Size models.Size
	EMA  bool // the average of the weights, not the weights
	// Trained selects the trained weights in a checkpoint of bnctl that also has averages.
	Trained bool
	// Epoch selects the weights in a checkpoint of bnctl: "last", "best", or "" for the
	// epoch of the run's template.
	Epoch string
	// QDQ is how a quantised ONNX file in QDQ form is computed: "bytes", in integers where that
	// is possible, or "float", by the standard's rule; "" means "bytes".
	QDQ string
	// Boxes is the form in which the outputs of a detector hold boxes, or "none": see models.WithBoxes.
	// "" recognises it.
	Boxes string
	Merge bn.Rule // rule that merges the statistics of several ranks or replicas; "": as in the file
	// Labels are the names of the classes, one for each; nil uses the file's labels.
	Labels       []string
	UniqueLabels bool // Labels map classes to the classes of data: duplicates are refused
	Preprocess   Preprocess
	training     bool           // the model is for training: its graph may be in training form
	memory       *tensor.Region // memory for large weights of a graph; nil: the heap
	// Option returns the user's name for an option, for the texts of a Choice. nil returns
	// the name unchanged.
	Option func(name string) string
}

// Preprocess defines how pictures become the input of a model. The zero value uses the
// file's preprocessing.
type Preprocess struct {
	// Name is one of presetNames; "" means the file's, or "unit" if Mean or Std is set.
	Name string
	// Mean and Std, one number for each channel, replace the values of the preset Name; nil
	// keeps them. They are in units of x/255; with raw and caffe they are in units of
	// pixels, and with caffe in the order B, G, R.
	Mean, Std []float64
	// EXIF is data.ApplyEXIF or data.IgnoreEXIF, for the orientation in picture files;
	// "": as the model was trained.
	EXIF          string
	Interpolation string // "bilinear" or "bicubic": how pictures are resized; "": as in the model
	Resize        int    // shorter side in pixels before the crop; 0: by Name, or as in the model
}

// Foreign returns the options for files of other programs. If Arch names a file that
// describes a Keras or Caffe model, Foreign reads it.
func (o *Options) Foreign() (formats.Options, error) {
	f := formats.Options{Key: o.Key, Drop: o.Drop, Rename: o.Rename, Input: o.Input, Inputs: o.Inputs,
		EMA: o.EMA, Merge: o.Merge, FloatQDQ: o.QDQ == "float", Training: o.training, Memory: o.memory}
	err := o.checkSize()
	if err == nil && o.QDQ != "" && o.QDQ != "bytes" && o.QDQ != "float" {
		err = problem.New("qdq", o.QDQ, "want bytes or float", "")
	}
	if err == nil && o.Arch != "" {
		f.Description, err = description(o.Arch)
	}
	return f, err
}

// refuseForeign refuses options that apply only to files of other programs. The error gives
// why as the reason.
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
		{"input", len(o.Input)+len(o.Inputs) > 0},
		{"qdq", o.QDQ != ""},
	} {
		if given.set {
			return problem.New(given.field, "", "means nothing here: "+why, "leave it out")
		}
	}
	return nil
}

// description returns the content of a file that describes a Keras model in JSON, or a
// Caffe network in text. It returns nil for any other file, and if the file does not exist.
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
