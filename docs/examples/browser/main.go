//go:build js

// Browser is a predictor that runs inside a web page. The page is one file, and works offline.
// "make page" builds it.
package main

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/tensor"
)

// mostMemory is the memory limit in bytes, below the 4 GiB that WebAssembly can address.
const mostMemory = 3 << 30

// predictor is the model of the page, or nil before a model is loaded.
var predictor *inprocess.Predictor

func main() {
	js.Global().Set("bnctl", map[string]any{
		"load": function(load), "predict": function(predictFile), "camera": function(predictRGBA),
	})
	if ready := js.Global().Get("bnctlReady"); ready.Truthy() {
		ready.Invoke()
	}
	select {}
}

// function returns f as a function of JavaScript, which returns an object. If f fails, the field "error" of
// the object has the text of the error.
func function(f func(args []js.Value) (map[string]any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		out, err := f(args)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return out
	})
}

// load loads the template in args[0], an Uint8Array. args[1] is the kernel class.
func load(args []js.Value) (map[string]any, error) {
	o := inprocess.Options{Memory: mostMemory, Batch: 4}
	if len(args) > 1 {
		o.Kernels = args[1].String()
	}
	p, err := inprocess.Load(bytesOf(args[0]), o)
	if err != nil {
		return nil, err
	}
	if predictor != nil {
		_ = predictor.Close() // it only frees memory
	}
	predictor = p
	in := p.Inputs()[0]
	return map[string]any{"input": tensor.Describe(in.Type.DType, in.Type.Shape),
		"classes": len(p.Labels()), "memory": int(p.Memory())}, nil
}

// predictFile predicts a picture file.
func predictFile(args []js.Value) (map[string]any, error) {
	return predict(inprocess.Image{File: bytesOf(args[0])})
}

// predictRGBA predicts the pixels of a canvas: an array, width and height.
func predictRGBA(args []js.Value) (map[string]any, error) {
	pixels, w, h := bytesOf(args[0]), args[1].Int(), args[2].Int()
	if w < 1 || h < 1 || len(pixels) != 4*w*h {
		return nil, fmt.Errorf("%d bytes are not %d x %d pixels", len(pixels), w, h)
	}
	x := tensor.New(tensor.U8, h, w, 3)
	for i := range w * h {
		copy(x.Bytes[3*i:3*i+3], pixels[4*i:])
	}
	return predict(inprocess.Image{Pixels: x})
}

// predict returns the classes, the outputs, the boxes and the mask of a picture, if the model has them.
func predict(picture inprocess.Image) (map[string]any, error) {
	if predictor == nil {
		return nil, errors.New("choose a template first")
	}
	all, err := predictor.Predict(context.Background(), picture)
	if err != nil {
		return nil, err
	}
	var classes []any
	for _, c := range all[0].Classes {
		classes = append(classes, map[string]any{"label": c.Label, "p": c.P})
	}
	out := map[string]any{"classes": classes, "outputs": outputs(all[0].Outputs)}
	if boxes := boxesOf(predictor, all[0].Outputs); boxes != nil {
		out["boxes"] = boxes
	}
	if scores := all[0].Outputs[0]; scores.DType == tensor.F32 && len(scores.Shape) == 3 && scores.Shape[0] > 1 {
		mask, err := answer.PixelClasses(predictor.Outputs()[0].Name, scores)
		if err != nil {
			return nil, err
		}
		out["mask"] = map[string]any{"width": scores.Shape[2], "height": scores.Shape[1], "pixels": arrayOf(mask)}
	}
	return out, nil
}

// outputs returns tensors for JavaScript.
func outputs(all []tensor.Tensor) (list []any) {
	infos := predictor.Outputs()
	for i, t := range all {
		var shape []any
		for _, n := range t.Shape {
			shape = append(shape, n)
		}
		list = append(list, map[string]any{"name": infos[i].Name, "dtype": t.DType.String(), "shape": shape,
			"bytes": arrayOf(t.Bytes)})
	}
	return list
}

func bytesOf(array js.Value) []byte {
	b := make([]byte, array.Get("length").Int())
	js.CopyBytesToGo(b, array)
	return b
}

func arrayOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}
