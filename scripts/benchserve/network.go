package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// network is a network that is served and measured.
type network struct {
	name  string
	shape []int // shape of a row, which is UINT8: [H,W,C]
	batch int   // larger batches do not give a higher throughput
}

var networks = []network{
	{"resnet20", []int{32, 32, 3}, 32},
	{"resnet50", []int{224, 224, 3}, 8},
	{"mobilenetv2", []int{224, 224, 3}, 8},
}

// pixels returns a row of random pixels.
func (n network) pixels() []byte {
	draw := rand.New(rand.NewPCG(1, 1))
	row := make([]byte, n.shape[0]*n.shape[1]*n.shape[2])
	for i := range row {
		row[i] = byte(draw.Uint32())
	}
	return row
}

// floats returns the pixels as numbers of type float32.
func (n network) floats() (row []byte) {
	for _, v := range n.pixels() {
		row = binary.LittleEndian.AppendUint32(row, math.Float32bits(float32(v)))
	}
	return row
}

// file writes a template of the network with new weights.
func (b *bench) file(n network) (string, error) {
	path := filepath.Join(b.folder, n.name+".bnm")
	m, err := models.Build(n.name, models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		return "", err
	}
	m.Preprocess.Known = true
	_, err = serialize.WriteModel(path, m)
	return path, err
}

// shared returns the path of a template that has the same weights as the peers' models.
func (b *bench) shared(n network) (string, error) {
	path := filepath.Join(b.folder, n.name+".bnm")
	weights := filepath.Join(b.models, n.name+".pth")
	cmd := exec.CommandContext(b.ctx, b.bnctl, "strip", weights, "--arch", n.name, "--preprocess", "raw", "-o",
		path)
	out, err := cmd.CombinedOutput()
	return path, withOutput(err, out)
}
