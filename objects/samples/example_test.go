package samples_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/objects/samples"
)

// The label of a picture has all of its boxes.
func ExampleOpenData() {
	src, err := samples.OpenData(context.Background(), "coco:testdata/two.json", data.Options{EXIF: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	label, err := src.Label(context.Background(), 0)
	fmt.Println(src.Info().Classes, data.BoxOf(label), err)
	// Output: [cell] {[1 2 4 6] 0} <nil>
}
