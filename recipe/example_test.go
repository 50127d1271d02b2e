package recipe_test

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// A recipe is made from the defaults and changes. Check reports contradictions.
func ExampleDefault() {
	r := recipe.Default("resnet20")
	r.Epochs, r.Schedule, r.Augment = 30, "step:15,25", augmentation.CIFAR()
	r.Data = recipe.Data{Kind: "cifar10", Samples: 50000, Classes: 10}
	fmt.Println(r.TotalSteps(), "steps at a learning rate of", r.LR, r.Check())

	r.Batch = 4
	var p *problem.Error
	if errors.As(r.Check(), &p) {
		fmt.Println(p.Field, "|", p.Advice)
		fmt.Println(p)
	}
	// Output:
	// 11730 steps at a learning rate of 0.1 <nil>
	// batch | use {replicas} 4
	// batch 4: smaller than replicas 8: some replicas would never see a sample; use replicas 4
}
