package library_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/bn"
)

func Example_finetune() {
	const base = "base.bnm" // or resnet18.pth, mobilenet.onnx ...
	defer os.Remove(base)
	defer os.Remove("base.bnc")
	defer os.Remove("base.chain.jsonl")
	trained(bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Output: base})

	// The network keeps its weights and statistics, and gets a new head for two classes.
	o := bnctl.TrainOptions{Model: base, Source: halves(128)}
	o.Start.Classes = 2
	run, err := bnctl.Open(context.Background(), o)
	check(err)
	defer run.Close()
	r := run.Recipe()
	r.BN, r.Epochs, r.Freeze = bn.Frozen, 2, []string{"fc1.*"}
	m, err := run.Train(context.Background())
	check(err)
	fmt.Println(m.Labels, m.State["fc3.weight"].Shape)
	// Output:
	// [left right] [2 128]
}
