package class_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/models"
)

// Count the algorithms of a network's convolutions. The shapes, the precision and the
// kernel class determine the algorithms, and the algorithms determine the bits.
func ExampleChoose() {
	m, err := models.Build("resnet20", models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	f := m.Graph.Main
	counts := map[class.Algorithm]int{}
	for i := range f.Nodes {
		if l, ok := class.LayerOf(f, &f.Nodes[i]); ok {
			counts[class.Choose(l, "f32", class.FMA)]++
		}
	}
	fmt.Println(counts)
	// Output: map[implicit GEMM:4 Winograd F(2x2, 3x3):6 Winograd F(4x4, 3x3):10]
}
