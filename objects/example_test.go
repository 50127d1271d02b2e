package objects_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/tensor"
)

// Boxes are half-open and in pixels, whatever the format of their file.
func ExampleSet_CheckObjects() {
	cell := objects.Object{Box: objects.Box{X1: 0, Y1: 0, X2: 10, Y2: 10}, Area: 100}
	s := objects.Set{Spec: "cells", Classes: []string{"cell"}, Pictures: []objects.Picture{
		{Name: "a.png", Width: 20, Height: 20, Objects: []objects.Object{cell}}}}
	other := objects.Box{X1: 5, Y1: 5, X2: 15, Y2: 15}
	first := s.Pictures[0].Objects[0]
	fmt.Println(s.CheckObjects(), first.Area == first.Box.Area(), first.Box.Intersect(other), first.Box.X2)
	grey := tensor.New(tensor.U8, 20, 20, 3)
	drawn := objects.Draw(grey, []objects.Outline{{Box: other, Class: 0}})
	fmt.Println(drawn.At(5, 5), drawn.At(6, 6))
	// Output:
	// <nil> true 25 10
	// {128 0 0 255} {0 0 0 255}
}

// The error for a broken annotation names its file and line.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "objects")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	const document = `{"images": [{"id": 1, "file_name": "a.jpg", "width": 640, "height": 480}],
"categories": [{"id": 1, "name": "cell"}],
"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 20, 30, 40]},
{"id": 2, "image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]}]}`
	file := filepath.Join(folder, "cells.json")
	if err := os.WriteFile(file, []byte(document), 0o666); err != nil {
		panic(err)
	}
	_, err = objects.Open(context.Background(), "coco:"+file, objects.Options{OnlyAnnotations: true})
	if faults := new(objects.Faults); errors.As(err, &faults) {
		fmt.Println(faults)
	}
	// Output:
	// cells.json:4: there is no category with the id 2; add the category, or correct the number
}
