package augmentation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// operation is one random change of a picture, with its arguments.
type operation struct {
	*operationKind
	args []float64
}

// operationKind is a row of the table of operations.
type operationKind struct {
	name   string
	params []param
	stream tensor.Stream // stream of random numbers, relative to StreamAugment; must never change
	moves  bool          // the operation moves pixels, so that masks must be changed too
	apply  func(c *canvas, args []float64, d *tensor.Draws)
}

// param is an argument of an operation: its name, its default, and its range.
type param struct {
	name      string
	def       float64
	low, high float64
	integer   bool
}

// Operations that do more than change one picture in place. One selects the part of a picture that is scaled
// to the size of the result, two combine pictures that have boxes, and two mix the samples of a batch.
const (
	resizedCrop = "resizedcrop"
	mosaic      = "mosaic"
	blending    = "blend"
	mixup       = "mixup"
	Cutmix      = "cutmix"
)

// operationKinds is the table of operations. Messages list them in this order.
var operationKinds = []*operationKind{
	{resizedCrop, []param{{"least share of the area", 0.08, 0.001, 1, false},
		{"largest share", 1, 0.001, 1, false}}, 1, true, nil},
	{mosaic, []param{probability}, 9, true, nil},
	{blending, []param{probability}, 10, true, nil},
	{"crop", []param{{"pixels", 4, 1, 512, true}}, 2, true, cropOperation},
	{"flip", []param{probability}, 3, true, flipOperation},
	{"rotate", []param{{"degrees", 15, 0, 180, false}}, 4, true, rotateOperation},
	{"jitter", []param{{"brightness", 0.4, 0, 1, false}, {"contrast", 0.4, 0, 1, false},
		{"saturation", 0.4, 0, 1, false}}, 5, false, jitterOperation},
	{"randaugment", []param{{"changes", 2, 1, 14, true}, {"magnitude", 9, 0, levels - 1, true}}, 7, true,
		randAugmentOperation},
	{"trivial", nil, 8, true, trivialOperation},
	{"erase", []param{probability, {"least share of the area", 0.02, 0.001, 1, false},
		{"largest share", 0.33, 0.001, 1, false}}, 6, true, eraseOperation},
	{mixup, []param{{"alpha", 0.2, 0.01, 100, false}}, 0, false, nil},
	{Cutmix, []param{{"alpha", 1, 0.01, 100, false}}, 0, false, nil},
}

var probability = param{"probability", 0.5, 0, 1, false}

// parseOperations reads a text, for example "crop:4 flip jitter:0.4".
func parseOperations(text string) ([]operation, error) {
	var ops []operation
	for word := range strings.FieldsSeq(text) {
		op, err := parseOperation(word)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ops, func(o operation) bool { return o.name == op.name }) {
			return nil, fmt.Errorf("%s stands there twice", op.name)
		}
		if n := len(ops); n > 0 && ops[n-1].mixes() && !op.mixes() {
			return nil, fmt.Errorf("%s: it mixes what the others have made, want it after %s", ops[n-1].name, op.name)
		}
		if (op.name == resizedCrop || op.name == mosaic) && len(ops) > 0 {
			return nil, fmt.Errorf("%s: it makes the picture of the source, want it before %s", op.name, ops[0].name)
		}
		if n := len(ops); op.name == blending && n > 0 && (n > 1 || ops[0].name != mosaic) {
			return nil, fmt.Errorf("%s: it adds another picture of the source, want it before %s", op.name,
				ops[n-1].name)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

func (o operation) mixes() bool { return o.name == mixup || o.name == Cutmix }

func parseOperation(word string) (operation, error) {
	name, list, given := strings.Cut(word, ":")
	at := slices.IndexFunc(operationKinds, func(k *operationKind) bool { return k.name == name })
	if at < 0 {
		return operation{}, fmt.Errorf("unknown augmentation %q; there are none, cifar, imagenet and segment, or "+
			"operations with spaces between them: %s", name, strings.Join(operationNames(), ", "))
	}
	op := operation{operationKind: operationKinds[at]}
	for _, p := range op.params {
		op.args = append(op.args, p.def)
	}
	if !given {
		return op, nil
	}
	words := strings.Split(list, ",")
	if len(words) > len(op.params) {
		return op, fmt.Errorf("%s: it takes %s", word, op.usage())
	}
	for i, w := range words {
		v, err := op.params[i].parse(w)
		if err != nil {
			return op, fmt.Errorf("%s: %w", word, err)
		}
		op.args[i] = v
	}
	return op, op.check(word, len(words))
}

// check returns an error if the ends of a range are in the wrong order. If the text has only one of three
// factors, check uses it for all three. count is the number of arguments in the text.
func (o operation) check(word string, count int) error {
	if o.name == "jitter" && count == 1 {
		o.args[1], o.args[2] = o.args[0], o.args[0]
	}
	if n := len(o.params); n > 1 && o.params[n-1].name == "largest share" && o.args[n-2] > o.args[n-1] {
		return fmt.Errorf("%s: its largest share of the area, %g, is below the least, %g", word, o.args[n-1],
			o.args[n-2])
	}
	return nil
}

// parse reads an argument.
func (p param) parse(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	what := "a number"
	if p.integer {
		what = "a whole number"
	}
	if err != nil || !(v >= p.low && v <= p.high) || p.integer && v != float64(int(v)) {
		return 0, fmt.Errorf("its %s is %q, want %s from %g to %g", p.name, text, what, p.low, p.high)
	}
	return v, nil
}

// usage lists the arguments of an operation, for messages.
func (k *operationKind) usage() string {
	if len(k.params) == 0 {
		return "no argument"
	}
	names := make([]string, len(k.params))
	for i, p := range k.params {
		names[i] = fmt.Sprintf("%s (%g)", p.name, p.def)
	}
	return strings.Join(names, ", ")
}

func operationNames() []string {
	names := make([]string, len(operationKinds))
	for i, k := range operationKinds {
		names[i] = k.name
	}
	return names
}

// String writes an operation with all its arguments.
func (o operation) String() string {
	texts := make([]string, len(o.args))
	for i, v := range o.args {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.TrimSuffix(o.name+":"+strings.Join(texts, ","), ":")
}
