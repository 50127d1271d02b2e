package demo

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/serialize"
)

// sick is the exit code of the command doctor if it finds a fault.
const sick = 3

// sickChannel is the channel where the demo puts a NaN.
const sickChannel = 3

// doctor puts a NaN into a running variance of a copy of the template. The command doctor has to find this
// fault and no other.
func (d *demo) doctor() error {
	layer, err := plantNaN(filepath.Join(d.folder, "glyphs.bnm"), filepath.Join(d.folder, "sick.bnm"))
	if err != nil {
		return err
	}
	d.say("\nOne running variance of a copy is NaN now. Doctor finds it.")
	var faults []bn.Finding
	err = d.exitsWith(sick, func(e event) {
		for _, f := range e.Found {
			if f.Severity == bn.Fault {
				faults = append(faults, f)
			}
		}
	}, "doctor", "sick.bnm")
	if err != nil {
		return err
	}
	if len(faults) != 1 || faults[0].Layer != layer || len(faults[0].Channels) != 1 ||
		faults[0].Channels[0] != sickChannel {
		return fmt.Errorf("demo: doctor found %+v, not the NaN in channel %d of %s", faults, sickChannel, layer)
	}
	d.say("  %s channel %d: %s", faults[0].Layer, faults[0].Channels[0], faults[0].Problem)
	return nil
}

// plantNaN copies a template, and puts a NaN into the running variance of the copy's first batch norm. It
// returns the name of that layer.
func plantNaN(src, dst string) (layer string, err error) {
	m, err := serialize.ReadModel(src)
	if err != nil {
		return "", err
	}
	layers, err := bn.Layers(m.Graph.Main)
	if err != nil {
		return "", err
	}
	m.State[layers[0].Variance].F32()[sickChannel] = float32(math.NaN())
	_, err = serialize.WriteModel(dst, m)
	return layers[0].Name, err
}
