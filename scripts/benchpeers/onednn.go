package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// oneDNN returns the side that predicts layer by layer with oneDNN. Batch norm, addition and relu are fused
// with the layer before them. The time includes changes of layout between layers.
func oneDNN(model string, batch, threads int) side { return layersBy("onednn", model, batch, threads) }

// oneDNNTraining returns the side that runs the layers of a training step with oneDNN: forward, backward for
// inputs and weights, and batch norms in both directions. It leaves out the loss and the update.
func oneDNNTraining(model string, batch, threads int) side {
	return layersBy("onednn_train", model, batch, threads)
}

// layersBy returns the side that runs the given program of scripts/peers in Debian 13.
func layersBy(program, model string, batch, threads int) side {
	return side{"oneDNN", func(b *bench) (float64, error) {
		words, err := b.enter()
		if err != nil {
			return 0, err
		}
		words = append(words, "/usr/local/bin/"+program, "/models/"+model+".layers", fmt.Sprint(batch),
			fmt.Sprint(b.seconds))
		cmd := exec.CommandContext(b.ctx, words[0], words[1:]...)
		cmd.Env, cmd.Stderr = append(environ(), "OMP_NUM_THREADS="+fmt.Sprint(threads)), os.Stderr
		line, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", program, err)
		}
		var r struct {
			rate
			Peer, Version string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return 0, err
		}
		b.unloaded = append(b.unloaded, r.Peer+" "+r.Version)
		return r.Images, nil
	}}
}
