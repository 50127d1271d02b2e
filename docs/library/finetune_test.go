package library_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/train"
)

func Example_finetune() {
	const base = "base.bnm" // or resnet18.pth, mobilenet.onnx ...
	defer os.Remove(base)
	_, err := bnctl.Train(context.Background(), bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256",
		Output: base})
	check(err)

	// Its weights with a new head for two classes; batch norm keeps its statistics.
	o := bnctl.TrainOptions{Model: base, Recipe: train.DefaultRecipe(base)}
	o.Start.Classes = 2
	o.Recipe.BN, o.Recipe.Epochs, o.Recipe.Freeze = bn.Frozen, 2, []string{"fc1.*"}
	m, err := bnctl.TrainOn(context.Background(), o, halves(128), nil)
	check(err)
	fmt.Println(m.Labels, m.State["fc3.weight"].Shape)
	// Output:
	// [left right] [2 128]
}
