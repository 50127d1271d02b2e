package cpu

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// BenchmarkTrain measures whole training steps on synthetic data.
func BenchmarkTrain(b *testing.B) {
	for _, c := range []struct {
		name            string
		batch, replicas int
	}{{"resnet20", 128, 8}, {"lenet-bn", 128, 8}, {"resnet18", 16, 2}, {"mobilenetv2", 8, 2}} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", c.name, threads), func(b *testing.B) {
				d, err := Provider{}.Open(context.Background(), device.DefaultID, device.Options{Threads: threads})
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				tr := newTrainer(b, d, c.name, c.batch, c.replicas, models.Size{})
				measure(b, c.batch, func() { tr.run(b) })
			})
		}
	}
}

// measure reports how many images run computes per second, and the processor time per image. One call of
// run computes the given number of images.
func measure(b *testing.B, images int, run func()) {
	run()
	began, used := time.Now(), processTime()
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64((processTime()-used).Microseconds())/float64(images*b.N), "cpu-µs/image")
	b.ReportMetric(float64(images*b.N)/time.Since(began).Seconds(), "images/s")
}

// BenchmarkPredict measures inference on synthetic data.
func BenchmarkPredict(b *testing.B) {
	for _, name := range []string{"resnet20", "resnet18", "resnet50", "mobilenetv2", "lenet-bn"} {
		for _, batch := range []int{1, 8, 32} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%d/%d", name, batch, threads), func(b *testing.B) {
					d, err := Provider{}.Open(context.Background(), device.DefaultID, device.Options{Threads: threads})
					if err != nil {
						b.Fatal(err)
					}
					defer d.Close()
					tr := newTrainer(b, d, name, batch, 1, models.Size{})
					step := device.Step{Function: graph.Predict, Rows: []int{batch}, Inputs: tr.step.Inputs[:1]}
					measure(b, batch, func() {
						if _, err := tr.Run(context.Background(), step); err != nil {
							b.Fatal(err)
						}
					})
				})
			}
		}
	}
}
