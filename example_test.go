package bnctl_test

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile/formats"
	"github.com/bnctl/bnctl/modelfile/strip"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) { // the CPU devices are processes of this program
		return
	}
	os.Exit(m.Run())
}

// Two devices train a network on digits. The template is the same on one, or
// on any others.
func ExampleTrain() {
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Validation: "glyphs:64"}
	o.Fleet.Devices = "2xcpu"
	o.Recipe = train.DefaultRecipe(o.Model)
	o.Recipe.Epochs = 2
	o.Events = func(e train.Event) {
		if e, ok := e.(train.EpochDone); ok {
			fmt.Println("epoch", e.Epoch, "of", e.Seen, "samples")
		}
	}
	template, err := bnctl.Train(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(template.Architecture, template.Labels)
	// Output:
	// epoch 1 of 256 samples
	// epoch 2 of 256 samples
	// mlp-bn [0 1 2 3 4 5 6 7 8 9]
}

// A checkpoint of anybody becomes one clean file: package strip says what it
// took off.
func Example_strip() {
	folder, err := os.MkdirTemp("", "strip")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		log.Fatal(err)
	}
	checkpoint := filepath.Join(folder, "model.pth")
	if _, err := formats.SaveModel(checkpoint, m); err != nil {
		log.Fatal(err)
	}
	o := strip.Options{Inputs: []string{checkpoint}, Output: filepath.Join(folder, "model.bnm")}
	r, err := strip.Files(o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Architecture, "of", r.Format, "with", r.Parameters, "parameters")
	// Output:
	// mlp-bn of pytorch zip with 235530 parameters
}

// A folder of pictures, and what the model says of each.
func ExamplePredict() {
	folder, err := os.MkdirTemp("", "predict")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	o := bnctl.PredictOptions{Model: filepath.Join(folder, "glyphs.bnm"), Inputs: []string{picture(folder)}}
	if _, err := bnctl.Train(context.Background(), bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:500",
		Output: o.Model}); err != nil {
		log.Fatal(err)
	}
	for p, err := range bnctl.Predict(context.Background(), o) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(filepath.Base(p.Input), "is a", p.Classes[0].Label)
	}
	// Output:
	// digit.png is a 3
}

// picture draws a digit as a picture in a folder, which it returns.
func picture(folder string) string {
	photos := filepath.Join(folder, "photos")
	src, err := data.Open(context.Background(), "glyphs:32", data.Options{Split: data.Test})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	if err := os.MkdirAll(photos, 0o777); err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(filepath.Join(photos, "digit.png"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for i := 0; ; i++ {
		label, err := src.Label(context.Background(), i)
		if err != nil {
			log.Fatal(err)
		}
		if label[0] == 3 {
			x, err := src.Sample(context.Background(), i)
			if err == nil {
				err = png.Encode(f, grey(x))
			}
			if err != nil {
				log.Fatal(err)
			}
			return photos
		}
	}
}

// grey returns a sample [H,W,1] as a picture.
func grey(x tensor.Tensor) image.Image {
	h, w := x.Shape[0], x.Shape[1]
	return &image.Gray{Pix: x.Bytes, Stride: w, Rect: image.Rect(0, 0, w, h)}
}
