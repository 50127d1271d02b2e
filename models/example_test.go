package models_test

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
)

// This example builds an architecture of the zoo with another number of classes. The
// weights of Init depend only on the seed.
func ExampleBuild() {
	m, err := models.Build("resnet20", models.Options{Classes: 100})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	s := m.Summary()
	fmt.Println(m.Input(), s.Parameters, "parameters", s.Norms, "batch norms")
	// Output: rows u8[32,32,3] 275572 parameters 19 batch norms
}
