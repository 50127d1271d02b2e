package bnctl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"testing"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// A template that package embed has put into the program predicts without a second process.
func ExampleLoad() {
	template := glyphTemplate()
	p, err := bnctl.Load(template, bnctl.LoadOptions{Threads: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	outputs, err := p.Run(context.Background(), tensor.New(tensor.U8, 2, 28, 28, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outputs[0].Shape)
	// Output: [2 10]
}

// glyphTemplate returns the bytes of a template.
func glyphTemplate() []byte {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	var b bytes.Buffer
	if err == nil {
		err = serialize.EncodeModel(&b, m)
	}
	if err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Load returns the errors of package inprocess.
func TestLoadErrors(t *testing.T) {
	p, err := bnctl.Load(glyphTemplate(), bnctl.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	_, err = p.Predict(t.Context(), inprocess.ImageOf(image.NewGray(image.Rect(0, 0, 8, 8))))
	if !errors.Is(err, inprocess.ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	if fault := new(inprocess.Panic); errors.As(err, &fault) {
		t.Errorf("a closed predictor panics: %v", fault)
	}
}
