package inprocess

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// faulty panics in its next run.
type faulty struct {
	device.Executable
}

func (f *faulty) Run(context.Context, device.Step) (device.Outcome, error) {
	panic("index out of range")
}

// TestPanicIsErrorOfItsCall checks that a panic becomes an error of the call. Later calls load the program
// again and give the right bits.
func TestPanicIsErrorOfItsCall(t *testing.T) {
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := tensor.New(tensor.U8, 4, 28, 28, 1)
	for i := range x.Bytes {
		x.Bytes[i] = byte(i * 7)
	}
	want, err := p.Run(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	was := p.session.exe
	p.session.exe = &faulty{was}
	var fault *Panic
	if _, err := p.Run(t.Context(), x); !errors.As(err, &fault) || fault.Value != "index out of range" {
		t.Fatalf("%v, want a *Panic", err)
	}
	got, err := p.Run(t.Context(), x)
	if err != nil || !bytes.Equal(got[0].Bytes, want[0].Bytes) {
		t.Errorf("other bits after a panic, %v", err)
	}
	if p.session.exe == was || p.session.broken {
		t.Error("the program was not loaded again")
	}
}
