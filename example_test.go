package bnctl_test

import (
	"context"
	"errors"
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
	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/modelfile/export"
	"github.com/bnctl/bnctl/modelfile/strip"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) { // the CPU devices are processes of this program
		return
	}
	os.Exit(m.Run())
}

// Two devices train a network on digits. The template is the same on one device, or on any other devices.
func ExampleOpen() {
	ctx := context.Background()
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Validation: "glyphs:64"}
	o.Fleet.Devices = "2xcpu"
	o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
		if e, ok := e.(train.EpochDone); ok {
			fmt.Println("epoch", e.Epoch, "of", e.Seen, "samples")
		}
		return nil
	})
	run, err := bnctl.Open(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	run.Recipe().Epochs = 2
	template, err := run.Train(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(template.Architecture, template.Labels)
	// Output:
	// epoch 1 of 256 samples
	// epoch 2 of 256 samples
	// mlp-bn [0 1 2 3 4 5 6 7 8 9]
}

// A run that was stopped continues from its checkpoint. The same call starts and continues
// it, and the template equals the template of an uninterrupted run.
func ExampleRun_Train() {
	folder, err := os.MkdirTemp("", "resume")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	o := bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Resume: "auto",
		Output: filepath.Join(folder, "glyphs.bnm")} // the checkpoint becomes glyphs.bnc
	for day := range 2 {
		ctx, stop := context.WithCancel(context.Background())
		o.Observer = bnctl.ObserverFunc(func(e bnctl.Event) error {
			switch e := e.(type) {
			case train.Started:
				fmt.Println("from step", e.FirstStep, "to", e.TotalSteps)
			case train.EpochDone:
				if day == 0 {
					stop() // one epoch is enough for today
				}
			case train.Finished:
				fmt.Println("wrote", filepath.Base(e.Model))
			}
			return nil
		})
		run, err := bnctl.Open(ctx, o)
		if err != nil {
			log.Fatal(err)
		}
		_, err = run.Train(ctx)
		fmt.Println("stopped:", errors.Is(err, context.Canceled))
		run.Close()
		o.Model = "" // the checkpoint has the model
	}
	// Output:
	// from step 0 to 20
	// stopped: true
	// from step 2 to 20
	// wrote glyphs.bnm
	// stopped: false
}

// Convert a checkpoint of any origin into one clean file, export a model for another
// program, and examine a file: one call each, in packages strip, export and doctor.
func Example_files() {
	folder, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	in := func(name string) string { return filepath.Join(folder, name) }
	glyphsModel(bnctl.TrainOptions{Data: "glyphs:256", Output: in("model.bnm")})

	stripped, err := strip.Files(strip.Options{Inputs: []string{in("model.bnc")}, Output: in("model.pth")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("removed", stripped.Removed.Lines[0])
	exported, err := export.File(context.Background(), export.Options{Input: in("model.bnm"),
		Output: in("model.onnx"), FoldBN: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("folded", exported.Folded)
	report, err := doctor.Examine(in("model.pth"), modelfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(report.Findings()), "findings")
	// Output:
	// removed 8 replica connections (2 all_reduce, 1 gather, 2 moments, 1 split, 2 track)
	// folded [bn1 bn2]
	// 0 findings
}

// Predict a picture in this process, without devices.
func ExampleLoad_picture() {
	folder, err := os.MkdirTemp("", "predict")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	template := filepath.Join(folder, "glyphs.bnm")
	glyphsModel(bnctl.TrainOptions{Data: "glyphs:500", Output: template})
	p, err := bnctl.Load(template, bnctl.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	file, err := os.ReadFile(filepath.Join(picture(folder), "digit.png"))
	if err != nil {
		log.Fatal(err)
	}
	predictions, err := p.Predict(context.Background(), inprocess.Image{File: file})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("it is a", predictions[0].Classes[0].Label)
	// Output:
	// it is a 3
}

// glyphsModel trains mlp-bn on glyphs.
func glyphsModel(o bnctl.TrainOptions) {
	o.Model = "mlp-bn"
	run, err := bnctl.Open(context.Background(), o)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	if _, err := run.Train(context.Background()); err != nil {
		log.Fatal(err)
	}
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
