package stage

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Spec is the number of stages, or the layers that they begin with. The zero value is one
// stage.
type Spec struct {
	Number int      // 0 means one, unless Layers or Auto is set
	Auto   bool     // the number that the memory of the devices requires
	Least  int      // with Auto: the minimum number of stages, because a device has refused fewer
	Layers []string // first layer of each stage, from the second stage on
	// Waves is the number of waves of a training step, which is the number of replicas on
	// each device of a stage; 0 without training.
	Waves int
	// BF16 reports that devices round the values that they store (device.BF16), but not the values
	// between fused nodes. So nodes that they might fuse are not divided.
	BF16 bool
}

// Parse reads a Spec: "2", "auto", or "layer3,layer4".
func Parse(text string) (Spec, error) {
	switch n, err := strconv.Atoi(text); {
	case text == "":
		return Spec{}, nil
	case text == "auto":
		return Spec{Auto: true}, nil
	case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-"):
		return Spec{}, problem.New("stages", text, "no network has so many layers", "use fewer stages")
	case err != nil && !errors.Is(err, strconv.ErrRange):
		layers := strings.Split(text, ",")
		if slices.Contains(layers, "") {
			return Spec{}, problem.New("stages", text, "a name of a layer is empty", "give LAYER,LAYER")
		}
		return Spec{Layers: layers}, nil
	case n < 1:
		return Spec{}, problem.New("stages", text, "want at least 1, auto, or names of layers", "")
	default:
		return Spec{Number: n}, nil
	}
}

// One reports whether there is one stage: nothing is divided.
func (s Spec) One() bool { return !s.Auto && s.Number <= 1 && len(s.Layers) == 0 }

// DivideFor divides a template for devices, with the same number of devices for each stage.
// free has the free memory of each device, or 0 where it is unknown. p is the program that
// they run, and rows is the number of rows at once.
func (n *Network) DivideFor(s Spec, p *graph.Program, rows int, free []int64) (*Division, error) {
	if n.rounds = s.BF16; s.Auto {
		return n.fitting(s, p, rows, free)
	}
	d, err := n.Choose(s, n.Times(p, s.rowsOf(rows, len(free)), s.Waves))
	if err == nil {
		_, err = Columns(len(free), d.stages)
	}
	var refused *problem.Error
	if _, number := strconv.Atoi(valueOf(err)); number == nil && errors.As(err, &refused) && len(s.Layers) > 0 {
		refused.Value = s.String() // value that the user requested
	}
	return d, err
}

// valueOf returns the option value that err refers to, or "".
func valueOf(err error) string {
	if e := new(problem.Error); errors.As(err, &e) {
		return e.Value
	}
	return ""
}

// fitting returns the division into the fewest stages that fit the memory of the devices.
func (n *Network) fitting(s Spec, p *graph.Program, rows int, free []int64) (*Division, error) {
	var lacking error
	for stages := max(s.Least, 1); stages <= len(free); stages++ {
		columns, err := Columns(len(free), stages)
		if err != nil {
			continue
		}
		d, err := n.Choose(Spec{Number: stages}, n.Times(p, s.rowsOfWave(rows, stages, columns), s.Waves))
		if err != nil {
			return nil, cmp.Or(lacking, err)
		}
		programs, err := d.Programs(p)
		if err != nil {
			return nil, err
		}
		if lacking = s.Fits(programs, rows, free); lacking == nil {
			return d, nil
		}
	}
	if lacking == nil {
		lacking = problem.New("stages", "auto", fmt.Sprintf("%s cannot be dealt to %s or more alike",
			problem.Plural(len(free), "device"), problem.Plural(s.Least, "stage")), "use more devices")
	}
	return nil, lacking
}

// Fits returns an error of kind device.OutOfMemory if a stage is expected to need more
// memory than one of its devices has free, with this number of rows at once in all. free
// begins with the devices of the first stage.
func (s Spec) Fits(programs []*graph.Program, rows int, free []int64) error {
	stages := len(programs)
	columns := len(free) / stages
	for i, program := range programs {
		want := bytesOf(program, s.rowsOfWave(rows, stages, columns), min(s.Waves, UnderWay(stages, i)), s.Waves)
		for _, has := range free[i*columns : (i+1)*columns] {
			if has > 0 && want > has {
				const mib = 1 << 20
				return problem.New("stages", s.String(), fmt.Sprintf("stage %d of %d wants %d MiB, and a device of it "+
					"has %d MiB free", i+1, stages, want/mib, has/mib),
					"use more devices or a smaller batch").Because(device.OutOfMemory)
			}
		}
	}
	return nil
}

// String returns the text of s in the form that Parse reads.
func (s Spec) String() string {
	switch {
	case s.Auto:
		return "auto"
	case len(s.Layers) > 0:
		return strings.Join(s.Layers, ",")
	}
	return strconv.Itoa(max(s.Number, 1))
}

// rowsOf returns the number of rows that one of several devices has at a time.
func (s Spec) rowsOf(rows, devices int) int {
	stages := max(s.Number, len(s.Layers)+1)
	return s.rowsOfWave(rows, stages, max(devices/stages, 1))
}

// rowsOfWave returns the number of rows that a device has at a time if they are divided into waves.
func (s Spec) rowsOfWave(rows, stages, columns int) int {
	waves := stages
	if s.Waves > 0 {
		waves = s.Waves
	}
	return (rows + columns*waves - 1) / (columns * waves)
}

// bytesOf estimates the memory that a program needs on a device: its state, the gradients
// that are summed over all waves, and the values of a number of rows in each of the waves
// in progress.
func bytesOf(p *graph.Program, rows, waves, total int) int64 {
	bytes := int64(0)
	for _, s := range p.State {
		size := int64(tensor.Count(s.Shape) * s.DType.Size())
		bytes += size
		if p.Function(graph.Reduce) != nil && s.Role.Trained() {
			bytes += size * int64(1+bits.Len(uint(total))) // a sum for each level of the tree
		}
	}
	return bytes + activations(p, rows, waves)
}

// Columns returns how many devices each of a number of stages gets.
func Columns(devices, stages int) (int, error) {
	if stages < 1 || devices%stages != 0 {
		return 0, problem.New("stages", strconv.Itoa(stages), fmt.Sprintf("%s cannot be dealt to %s alike",
			problem.Plural(devices, "device"), problem.Plural(stages, "stage")),
			fmt.Sprintf("use %s, or a number of stages that divides theirs", problem.Plural(max(stages, 1), "device")))
	}
	return devices / stages, nil
}
