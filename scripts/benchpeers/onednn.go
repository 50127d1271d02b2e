package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// oneDNN predicts layer by layer with oneDNN, each with its batch norm, addition
// and relu fused, and the changes of layout between them.
func oneDNN(model string, batch, threads int) side { return layersBy("onednn", model, batch, threads) }

// oneDNNTraining is the sum of oneDNN's layers in a step of training: forward, backward for inputs
// and weights, batch norms in both directions; loss and update are left out.
func oneDNNTraining(model string, batch, threads int) side {
	return layersBy("onednn_train", model, batch, threads)
}

// layersBy runs a program of scripts/peers in Debian 13.
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
		b.once = append(b.once, r.Peer+" "+r.Version)
		return r.Images, nil
	}}
}
