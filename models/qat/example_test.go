package qat_test

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/qat"
)

// A model that is not trained for int8 stays as it is.
func ExampleTemplate() {
	m, err := models.Build("lenet-bn", models.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	template, err := qat.Template(m)
	fmt.Println(template == m, template.Int8(), err)
	// Output: true false <nil>
}
