package wasm

import (
	"context"
	"encoding/json"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// The page computes the same bits as the command for a file, a dropped file, the pixels of a canvas, and a
// picture from the camera.
func TestPage(t *testing.T) {
	folder, all := t.TempDir(), chosen()
	templates(t, folder, all)
	n := &network{Name: "boxes fma", Kernels: "fma", Model: filepath.Join(folder, "boxes.bnm"), Picture: all[0].Picture}
	makeDetector(t, n.Model)
	n.Sum = inProcess(t, n)
	for _, n := range all {
		n.Time = os.Getenv("BNCTL_TIMES") != ""
	}
	page, camera := filepath.Join(folder, "page.html"), filepath.Join(folder, "camera.json")
	build := exec.Command("go", "run", "./scripts/browserpage", page)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := json.Marshal(append(all, n))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "networks.json")
	if err := os.WriteFile(file, list, 0o666); err != nil {
		t.Fatal(err)
	}
	inChromium(t, page, file, camera)
	compareCamera(t, all[0], camera, filepath.Join(folder, "frame.png"))
}

// inChromium runs the page in headless Chromium, by scripts/web/predictpage.js.
func inChromium(t *testing.T, args ...string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "node", append([]string{"../web/predictpage.js"}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // SIGTERM also ends Chromium
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// compareCamera compares the answer for the picture of the camera with the command's answer for a PNG of the
// same pixels.
func compareCamera(t *testing.T, n *network, file, picture string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var frame struct {
		Width, Height int
		Data          []byte
		Sum           string
	}
	if err := json.Unmarshal(text, &frame); err != nil {
		t.Fatal(err)
	}
	writePNG(t, picture, &image.RGBA{Pix: frame.Data, Stride: 4 * frame.Width,
		Rect: image.Rect(0, 0, frame.Width, frame.Height)})
	of := *n
	of.Picture = picture
	if sum := command(t, &of); sum != frame.Sum {
		t.Errorf("camera: %s by the page, %s by the command", frame.Sum, sum)
	}
}

// makeDetector writes a template that returns five boxes, and their scores for three classes.
func makeDetector(t *testing.T, path string) {
	g := &graph.Graph{Name: "boxes"}
	b := graph.NewBuilder("main", &g.State)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: []int{8, 8, 3}})
	x = b.Op(graph.Image, "image", []graph.Value{x}, "mean", []float64{.5, .5, .5}, "std", []float64{.2, .2, .2})
	x = b.Op(graph.Reshape, "flat", []graph.Value{x}, "shape", []int{8 * 8 * 3})
	for i, width := range []int{4, 3} {
		name := []string{"boxes", "scores"}[i]
		state := func(name string, r graph.Role, i graph.Init, shape ...int) graph.Value {
			return b.Declare(graph.State{Name: name, DType: tensor.F32, Shape: shape, Role: r, Init: i})
		}
		y := b.Op(graph.Dense, name+".fc", []graph.Value{x,
			state(name+".weight", graph.Weight, graph.Init{Rule: "he_normal", Args: []float64{0}}, 5*width, 8*8*3),
			state(name+".bias", graph.Bias, graph.Init{Rule: "zeros"}, 5*width)})
		y = b.Op(graph.Sigmoid, name+".sigmoid", []graph.Value{y})
		b.Output(name, b.Op(graph.Reshape, name+".rows", []graph.Value{y}, "shape", []int{5, width}), false)
	}
	var err error
	if g.Main, err = b.Function(); err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err == nil {
		err = models.Init(m, 3)
	}
	if err == nil {
		_, err = serialize.WriteModel(path, m)
	}
	if err != nil {
		t.Fatal(err)
	}
}
