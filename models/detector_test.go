package models_test

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// torchYOLOX is the output of testdata/torch_yolox.py: see there.
//
//go:embed testdata/torch_yolox.txt
var torchYOLOX string

// torchDetection is the output of testdata/torch_detection.py: see there.
//
//go:embed testdata/torch_detection.txt
var torchDetection string

func TestYOLOXAsInPyTorch(t *testing.T) { checkDetectors(t, torchYOLOX, 2) }

func TestDetectionAsInPyTorch(t *testing.T) { checkDetectors(t, torchDetection, 1) }

// checkDetectors compares the state and the outputs of detectors with lines, one for each
// detector, for a number of images.
func checkDetectors(t *testing.T, lines string, images int) {
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		var height, width, parameters, norms int
		fmt.Sscan(strings.Join(f[1:5], " "), &height, &width, &parameters, &norms)
		checkDetectorState(t, f[0], parameters, norms, f[5])
		m, err := models.Build(f[0], models.Options{Input: models.Size{Height: height, Width: width, Channels: 3},
			Classes: 3})
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := m.DetectedClasses(); n != 3 || !ok {
			t.Errorf("%s detects %d classes", f[0], n)
		}
		sorted := slices.Clone(m.Graph.State)
		slices.SortFunc(sorted, func(a, b graph.State) int { return strings.Compare(a.Name, b.Name) })
		state := map[string]tensor.Tensor{}
		for k, s := range sorted {
			state[s.Name] = fill(k, s)
		}
		x := tensor.New(tensor.U8, images, height, width, 3)
		for i := range x.U8() {
			x.U8()[i] = uint8(words(1000, i) >> 24)
		}
		eval, err := graph.Eval(m.Graph.Main, m.Graph.State)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ref.Eval64(eval, state, []tensor.Tensor{x}, []int{images})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, f[0], out[0].F64(), f[6:])
	}
}

// checkDetectorState compares the state of a detector of the published size with the state
// of its authors' layers.
func checkDetectorState(t *testing.T, name string, parameters, norms int, digest string) {
	m, err := models.Build(name, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range m.Graph.State {
		shape := strings.ReplaceAll(fmt.Sprint(s.Shape), " ", ", ")
		lines = append(lines, fmt.Sprintf("%s %s\n", s.Name, shape))
	}
	slices.Sort(lines)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
	s := m.Summary()
	if sum != digest || s.Parameters != parameters || s.Norms != norms {
		t.Errorf("%s: %d parameters, %d norms, names %s; PyTorch has %d, %d, %s", name, s.Parameters, s.Norms,
			sum, parameters, norms, digest)
	}
}

// TestBackboneOfPyramid: a detector with a feature pyramid can be initialised from the
// weights of a classifier.
func TestBackboneOfPyramid(t *testing.T) {
	m, err := models.Build("fcos-resnet50-fpn", models.Options{Classes: 2,
		Input: models.Size{Height: 32, Width: 32, Channels: 3}})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(tensor.F32, 64, 64, 1, 1)
	x.F32()[5] = 3
	l, err := models.InitFrom(m, map[string]tensor.Tensor{"layer1.0.conv1.weight": x})
	if err != nil || len(l.Matched) != 1 || m.State["backbone.body.layer1.0.conv1.weight"].F32()[5] != 3 {
		t.Errorf("matched %v, %v", l.Matched, err)
	}
}
