package view

import (
	"io"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// BenchmarkSecond measures the cost per second of showing the view on a terminal of 200x50: it is drawn once
// per second.
func BenchmarkSecond(b *testing.B) {
	v := New(io.Discard, "", true)
	defer v.Stop()
	v.state = *trained()
	for b.Loop() {
		for _, r := range v.draw(waiting.Size{Columns: 200, Rows: 50}) {
			_, _ = io.WriteString(io.Discard, r.Text)
		}
	}
}

// BenchmarkStep measures the cost of the view for each step of training.
func BenchmarkStep(b *testing.B) {
	s := trained()
	m := train.Moment{Epoch: 3, Rows: 128, Loss: 1, Accuracy: 0.5, InputWait: 0.06,
		Devices: []train.DeviceShare{{Device: "cpu:0", Replicas: 4, Compute: 0.9, SyncWait: 0.02},
			{Device: "cpu:1", Replicas: 4, Compute: 0.7, SyncWait: 0.22}}}
	for b.Loop() {
		m.Step++
		s.Moment(m, time.Duration(m.Step)*time.Millisecond)
	}
}
