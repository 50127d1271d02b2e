package wasm

import (
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/modelfile/quantize"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// network is a template that the tests use.
type network struct {
	Name    string `json:"name"`
	Kernels string `json:"kernels"`
	Model   string `json:"model"` // path of the template
	Picture string `json:"picture"`
	Sum     string `json:"sum"`  // sum of the outputs that the command gives
	Time    bool   `json:"time"` // the page measures the time of a prediction
	zoo     string
	side    int // side of the input in pixels; 0: the network's usual size
	int8    bool
}

// networks returns 12 networks in 16 templates: float32 in both kernel classes, and int8.
func networks() []*network {
	return []*network{
		{zoo: "mlp-bn", Kernels: "fma"},
		{zoo: "lenet-bn", Kernels: "fma"},
		{zoo: "lenet-bn", Kernels: "generic"},
		{zoo: "resnet20", Kernels: "fma"},
		{zoo: "resnet20", Kernels: "generic"},
		{zoo: "unet-bn", side: 32, Kernels: "generic"},
		{zoo: "mobilenetv3-small", side: 64, Kernels: "fma"},
		{zoo: "squeezenet1-1", side: 64, Kernels: "fma"},
		{zoo: "shufflenet-v2-x1-0", side: 64, Kernels: "generic"},
		{zoo: "regnet-x-400mf", side: 64, Kernels: "generic"},
		{zoo: "lenet-bn", int8: true},
		{zoo: "resnet20", int8: true},
		{zoo: "resnet18", side: 64, int8: true},
		{zoo: "googlenet", side: 64, int8: true},
		{zoo: "efficientnet-b0", side: 64, int8: true},
		{zoo: "mobilenetv2", int8: true},
	}
}

// chosen returns all networks, or only those that BNCTL_NETWORKS names: "resnet20,mobilenetv2 int8".
func chosen() []*network {
	names := os.Getenv("BNCTL_NETWORKS")
	return slices.DeleteFunc(networks(), func(n *network) bool {
		return names != "" && !slices.ContainsFunc(strings.Split(names, ","), func(name string) bool {
			return strings.HasPrefix(n.name(), name)
		})
	})
}

// name returns the name of the network in the zoo, with its size and its arithmetic.
func (n *network) name() string {
	name, arithmetic := n.zoo, n.Kernels
	if n.side > 0 {
		name += fmt.Sprintf(" %dx%d", n.side, n.side)
	}
	if n.int8 {
		arithmetic = "int8"
	}
	return name + " " + arithmetic
}

// templates writes the picture and the templates of all networks to a folder. It stores in each network the
// sum of the outputs that the bnctl command gives, and checks that package inprocess gives the same sum.
func templates(t *testing.T, folder string, all []*network) {
	picture := filepath.Join(folder, "picture.png")
	drawPicture(t, picture)
	for i, n := range all {
		n.Name = n.name()
		n.Model, n.Picture = filepath.Join(folder, fmt.Sprint(i, ".bnm")), picture
		makeTemplate(t, n)
		n.Sum = command(t, n)
		if sum := inProcess(t, n); sum != n.Sum {
			t.Errorf("%s: %s in the process, %s by the command", n.Name, sum, n.Sum)
		}
	}
}

// drawPicture writes a picture that is larger than the inputs of some networks and smaller than others.
func drawPicture(t *testing.T, path string) {
	m := image.NewRGBA(image.Rect(0, 0, 150, 110))
	for y := range 110 {
		for x := range 150 {
			m.SetRGBA(x, y, color.RGBA{byte(x * y), byte(3*x + y), byte(x ^ y), 255})
		}
	}
	writePNG(t, path, m)
}

func writePNG(t *testing.T, path string, m image.Image) {
	file, err := os.Create(path)
	if err == nil {
		err = png.Encode(file, m)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// makeTemplate writes the template of n.
func makeTemplate(t *testing.T, n *network) {
	o := models.Options{}
	if n.side > 0 {
		o.Input = models.Size{Height: n.side, Width: n.side, Channels: 3}
	}
	m, err := models.Build(n.zoo, o)
	if err == nil {
		err = models.Init(m, 5)
	}
	if err == nil {
		_, err = serialize.WriteModel(n.Model, m)
	}
	if err == nil && n.int8 {
		input := n.Model
		n.Model = strings.TrimSuffix(input, ".bnm") + "-int8.bnm"
		_, err = quantize.File(t.Context(), quantize.Options{Input: input, Output: n.Model})
	}
	if err != nil {
		t.Fatalf("%s: %v", n.Name, err)
	}
}

// command returns the sum of the outputs that the command bnctl predict gives.
func command(t *testing.T, n *network) string {
	args := []string{"predict", n.Model, n.Picture, "--logits", "--format", "npy"}
	if n.Kernels != "" {
		args = append(args, "--kernels", n.Kernels)
	}
	out, err := exec.Command("../../bin/bnctl", args...).Output()
	if err != nil {
		t.Fatalf("%s: bin/bnctl predict: %v (make build makes bin/bnctl)\n%s", n.Name, err, out)
	}
	header := 10 + int(out[8]) + int(out[9])<<8 // length of the header in version 1 of .npy
	return fmt.Sprintf("%x", sha256.Sum256(out[header:]))
}

// inProcess returns the sum of the outputs that package inprocess gives in this process.
func inProcess(t *testing.T, n *network) string {
	p, err := inprocess.Load(n.Model, inprocess.Options{Kernels: n.Kernels})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	file, err := os.ReadFile(n.Picture)
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Predict(t.Context(), inprocess.Image{File: file})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, out := range all[0].Outputs {
		sum.Write(out.Bytes)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
