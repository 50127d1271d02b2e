package models

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Size is the size of an image, in pixels and channels.
type Size struct{ Height, Width, Channels int }

// String returns a size as height x width x channels: "32x32x3".
func (s Size) String() string { return fmt.Sprintf("%dx%dx%d", s.Height, s.Width, s.Channels) }

// Architecture is one row of the zoo.
type Architecture struct {
	Name    string
	Family  string        // a word for networks of one kind: "resnet"
	About   string        // description, half a sentence with the paper
	Input   Size          // default input size; most architectures support other sizes too
	Classes int           // number of classes of the published network
	LR      float64       // default learning rate for SGD with momentum 0.9 and a batch of 128
	Mean    []float64     // mean of pixels for each channel, in units of x/255
	Std     []float64     // deviation of pixels, in the same units
	Pixels  bool          // predicts a class for each pixel
	Boxes   graph.BoxForm // predicts boxes with classes, in this form

	// SameAs is another architecture with tensors of the same names and shapes. That
	// architecture is assumed if only names and shapes are known. SameAs is "" if there is no
	// such architecture.
	SameAs string

	auxiliary     bool   // Options.Auxiliary may be set
	resize        int    // Preprocess.Resize for Input; 0: 256 for 224x224
	interpolation string // Preprocess.Interpolation
	forward       forward
}

// forward adds a network to n, from the image to the logits of the classes.
type forward func(n *net, image graph.Value, classes int) graph.Value

// Options change a model of the zoo. A zero field keeps the architecture's value.
type Options struct {
	Input   Size
	Classes int
	// OneOutput permits a single class: the output is then a number, or a label that does
	// not exclude others. A detector may always have one class.
	OneOutput bool
	// Mean and Std are the attributes of the image operation, in units of x/255, one
	// element per channel. If both are nil, the architecture's are used.
	Mean, Std []float64
	// Auxiliary adds the auxiliary heads for training. Their outputs have names that
	// graph.IsAuxiliary recognises.
	Auxiliary bool
}

// ImageNet's channel means and deviations, in units of x/255; also customary for CIFAR-10.
var (
	ImageNetMean = []float64{0.485, 0.456, 0.406}
	ImageNetStd  = []float64{0.229, 0.224, 0.225}
)

// MNIST's mean and deviation, in units of x/255.
var (
	mnistMean = []float64{0.1307}
	mnistStd  = []float64{0.3081}
)

// Architectures returns the zoo in the order of its listing.
func Architectures() []Architecture { return slices.Clone(zoo) }

// Lookup returns the architecture with that name. The error is a *problem.Unknown, which
// lists the names.
func Lookup(name string) (Architecture, error) {
	names, native := make([]string, len(zoo)), bnctlName(name)
	for i, a := range zoo {
		if a.Name == native {
			return a, nil
		}
		names[i] = a.Name
	}
	if like := bnctlName(strings.TrimPrefix(name, "tf_")); like != native && slices.Contains(names, like) {
		return Architecture{}, problem.New("model", strconv.Quote(name),
			"it pads as TensorFlow does and adds 0.001 to variances; "+like+" is the nearest of the zoo",
			"name an ONNX file of it, or train "+like+" with its weights as {init}")
	}
	return Architecture{}, &problem.Unknown{What: "model", Name: name, Known: names}
}

// timmNames are names that timm gives to networks of the zoo, where they differ by more than dashes.
var timmNames = map[string]string{
	"mobilenetv2_100": "mobilenetv2", "mobilenetv3_small_100": "mobilenetv3-small",
	"mobilenetv3_large_100": "mobilenetv3-large", "mnasnet_100": "mnasnet1-0",
	"efficientnetv2_s": "efficientnet-v2-s", "regnetx_004_tv": "regnet-x-400mf", "regnety_004": "regnet-y-400mf",
	"regnety_008_tv": "regnet-y-800mf", "regnety_016": "regnet-y-1-6gf", "regnety_032": "regnet-y-3-2gf",
	"regnety_080_tv": "regnet-y-8gf", "vit_base_patch16_224": "vit-b-16",
	"swin_tiny_patch4_window7_224": "swin-t",
}

// bnctlName turns torchvision's or timm's spelling of a network's name into bnctl's:
// mobilenet_v3_large becomes mobilenetv3-large.
func bnctlName(name string) string {
	if native := timmNames[name]; native != "" {
		return native
	}
	return strings.Replace(strings.ReplaceAll(name, "_", "-"), "mobilenet-v", "mobilenetv", 1)
}

// Build returns the template of an architecture. Its State is empty: fill it
// with Init or InitFrom.
func Build(name string, o Options) (*Model, error) {
	a, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	name = a.Name
	if o.Auxiliary && !a.auxiliary {
		return nil, withoutAuxiliary(name)
	}
	o = a.withDefaults(o)
	if err := o.check(a); err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	g := &graph.Graph{Name: name}
	n := &net{Builder: graph.NewBuilder("main", &g.State)}
	if o.Auxiliary {
		n.heads = map[string]graph.Value{}
	}
	x := n.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.U8,
		Shape: []int{o.Input.Height, o.Input.Width, o.Input.Channels}})
	x = n.Op(graph.Image, "image", []graph.Value{x}, a.image(o)...)
	n.Output(a.output(), a.forward(n, x, o.Classes), false)
	for _, name := range slices.Sorted(maps.Keys(n.heads)) {
		n.Output(name, n.heads[name], false)
	}
	if g.Main, err = n.Function(); err != nil {
		err = fmt.Errorf("model %s does not take images of %v: %w", name, o.Input, err)
		if o.Input.Height < a.Input.Height || o.Input.Width < a.Input.Width {
			err = problem.Advise("use a larger {size}: "+a.Input.Sides()+" is the network's own", "%w", err)
		}
		return nil, err
	}
	return &Model{Architecture: name, Graph: g, State: map[string]tensor.Tensor{},
		Preprocess: a.preprocess(o.Input)}, nil
}

// output returns the name of the first output.
func (a Architecture) output() string {
	return string(cmp.Or(a.Boxes, "logits"))
}

// image returns the attributes of the image operation. The input of YOLOX is unchanged
// pixels, with blue first, unless o normalises them.
func (a Architecture) image(o Options) []any {
	if a.Boxes == graph.YOLOXForm && o.Mean == nil && o.Std == nil {
		return []any{"scale", 1.0, "bgr", o.Input.Channels == 3}
	}
	return []any{"mean", o.Mean, "std", o.Std}
}

// withDefaults fills in what o leaves open.
func (a Architecture) withDefaults(o Options) Options {
	if o.Input == (Size{}) {
		o.Input = a.Input
	}
	if o.Classes == 0 {
		o.Classes = a.Classes
	}
	if o.Mean == nil && o.Std == nil {
		o.Mean, o.Std = a.normalisation(o.Input.Channels)
	}
	return o
}

// normalisation returns mean and deviation for images with that number of channels:
// the architecture's if they fit, else MNIST's for grey and ImageNet's for colour.
func (a Architecture) normalisation(channels int) (mean, std []float64) {
	if a.Boxes == graph.YOLOXForm {
		return nil, nil
	}
	switch channels {
	case len(a.Mean):
		return a.Mean, a.Std
	case 1:
		return mnistMean, mnistStd
	case 3:
		return ImageNetMean, ImageNetStd
	}
	return nil, nil
}

// The bounds of the numbers in Options. A number beyond them is taken to be a mistake.
const (
	maxSide     = 1 << 13
	maxChannels = 64
	maxClasses  = 1 << 20
)

func (o Options) check(a Architecture) error {
	switch s := o.Input; {
	case s.Height < 1 || s.Width < 1 || s.Height > maxSide || s.Width > maxSide,
		s.Channels < 1 || s.Channels > maxChannels:
		return fmt.Errorf("input of %v; sides are 1 to %d, channels 1 to %d", s, maxSide, maxChannels)
	case o.Classes > maxClasses, o.Classes < 2 && !((o.OneOutput || a.Boxes != "") && o.Classes == 1):
		return fmt.Errorf("%s; a classifier has 2 to %d", problem.Plural(o.Classes, "class"), maxClasses)
	}
	return Image{Scale: 1. / largestPixel, Mean: o.Mean, Std: o.Std}.Check(o.Input.Channels)
}

// preprocess returns the preprocessing of image files: that of ImageNet for sizes like
// ImageNet's, else images are scaled to just cover the input.
func (a Architecture) preprocess(s Size) Preprocess {
	p := Preprocess{Known: true, Interpolation: a.interpolation, Letterbox: a.Boxes != ""}
	switch {
	case a.Boxes != "":
	case a.resize != 0 && s.Height == a.Input.Height && s.Width == a.Input.Width:
		p.Resize = a.resize
	case s.Height == 224 && s.Width == 224:
		p.Resize = 256
	}
	return p
}

// withoutAuxiliary is the error of Options.Auxiliary for a model without an auxiliary head.
func withoutAuxiliary(name string) error {
	var have []string
	for _, a := range zoo {
		if a.auxiliary {
			have = append(have, a.Name)
		}
	}
	return problem.Failure("aux-weight", "model "+name+" has no auxiliary head",
		strings.Join(have[:len(have)-1], ", ")+" and "+have[len(have)-1]+" have one, and so does a graph with "+
			"an output "+graph.Auxiliary)
}
