package average_test

import (
	"fmt"

	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/average"
)

// The detector finds one of two cells, and another box that is wrong.
func ExampleCOCO() {
	box := func(x float64) objects.Box { return objects.Box{X1: x, Y1: 0, X2: x + 100, Y2: 100} }
	set := &objects.Set{Classes: []string{"cell"}, Pictures: []objects.Picture{{Name: "a.png",
		Objects: []objects.Object{{Box: box(0), Area: 10000}, {Box: box(200), Area: 10000}}}}}
	found := []average.Detection{{Box: box(10), Score: 0.9}, {Box: box(400), Score: 0.8}}
	f := average.COCO(set, found)
	fmt.Printf("AP %.3f, AP50 %.3f, AR %.3f\n", f.AP, f.AP50, f.AR100)
	v := average.VOC(set, found)
	fmt.Printf("VOC: %.3f, 11 points %.3f; F1 %.3f at %v\n", v.AP50, v.AP50Points, v.Classes[0].F1,
		v.Classes[0].Threshold)
	last := v.Classes[0].Curve[1]
	fmt.Println(last.Recall, last.Precision, last.Score)
	// Output:
	// AP 0.353, AP50 0.505, AR 0.350
	// VOC: 0.500, 11 points 0.545; F1 0.667 at 0.9
	// 0.5 0.5 0.8
}
