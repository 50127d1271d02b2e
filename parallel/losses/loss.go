package losses

// These are the values of Loss.Of. CrossEntropy is for exclusive classes. The others consist of
// operations on single elements that every device has, with the same result on all: docs/numerics.md,
// section 8, has their definitions.
const (
	CrossEntropy       = ""
	BinaryCrossEntropy = "binary" // several labels may apply
	SquaredError       = "squared"
	AbsoluteError      = "absolute"
	HuberError         = "huber"
)

// Loss is a loss that a training function minimises. CrossEntropy is softmax cross-entropy over the
// classes, the first axis. Other losses are means over the elements that count.
type Loss struct {
	Of         string    // CrossEntropy, BinaryCrossEntropy and so on
	HuberDelta float64   // delta of HuberError: the loss is a line beyond this error
	Smoothing  float64   // Smoothing, Weights and Mixed are for CrossEntropy only
	Weights    []float64 // weights of the classes; nil: all 1
	Mixed      bool      // a row has two labels, each with its fraction
	Objects    int       // for YOLOX: the maximum number of objects of a row
	Maps       [][2]int  // for YOLOX: rows and columns of each map of cells
}

// weightsTargets reports whether the targets are weighted by class, as with smoothing.
func (l *Loss) weightsTargets() bool { return l.Smoothing > 0 && len(l.Weights) > 0 }
