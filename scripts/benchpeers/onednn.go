package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// oneDNN predicts layer by layer with oneDNN, each with its batch norm, addition
// and relu fused, and the changes of layout between them.
func oneDNN(model string, batch, threads int) side { return layersBy("", model, batch, threads) }

// oneDNNTraining is the sum of oneDNN's layers in a step of training: forward, backward for inputs
// and weights, batch norms in both directions; loss and update are left out.
func oneDNNTraining(model string, batch, threads int) side {
	return layersBy("-train", model, batch, threads)
}

// layersBy runs the program of scripts/peers/onednn.c, or the one beside it whose name ends so.
func layersBy(ending, model string, batch, threads int) side {
	return side{"oneDNN", func(b *bench) (float64, error) {
		cmd := exec.CommandContext(b.ctx, b.onednn+ending, filepath.Join(b.models, model+".layers"),
			fmt.Sprint(batch), fmt.Sprint(b.seconds))
		cmd.Env, cmd.Stderr = append(os.Environ(), "OMP_NUM_THREADS="+fmt.Sprint(threads)), os.Stderr
		line, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", cmd.Path, err)
		}
		var r struct {
			rate
			Peer, Version string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return 0, err
		}
		b.once = append(b.once, r.Peer+" "+r.Version)
		return r.Images, nil
	}}
}
