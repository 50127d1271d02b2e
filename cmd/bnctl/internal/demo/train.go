package demo

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// trainOnOne trains the recipe of the demo on one device.
func (d *demo) trainOnOne() error {
	d.say("\nTrain a small network on one device.")
	return d.command(func(e event) {
		d.show(e)
		switch e.Event {
		case "epoch":
			d.loss, d.result.Accuracy = e.Loss, e.Right
		case "done":
			d.result.SHA256 = e.SHA256
		}
	}, withRecipe("--devices", "cpu", "-o", "one.bnm")...)
}

// withRecipe returns the flags of the recipe, followed by the flags of one run.
func withRecipe(flags ...string) []string { return append(slices.Clone(recipe), flags...) }

// trainOnThree trains the same recipe on three devices. Half-way it kills the process of the second device.
func (d *demo) trainOnThree() error {
	d.say("\nTrain the same recipe on three devices. One of them is killed half-way.")
	processes := map[string]int{}
	half, killed := 0, false
	var sum string
	var killErr error
	err := d.command(func(e event) {
		d.show(e)
		switch e.Event {
		case "device":
			processes[e.Name] = e.Process
		case "start":
			half = e.Total / 2
		case "step":
			if !killed && e.Step >= half {
				killed = true
				killErr = d.kill("cpu:1", processes["cpu:1"], e.Step)
			}
		case "device_lost":
			d.result.DevicesLost++
		case "done":
			sum = e.SHA256
		}
	}, withRecipe("--devices", "3xcpu", "-o", "three.bnm")...)
	if err := cmp.Or(err, killErr); err != nil {
		return err
	}
	d.checkSame("the templates of one device and of three", sum == d.result.SHA256)
	if d.result.DevicesLost == 0 {
		return fmt.Errorf("demo: the run ended before the killed device was missed")
	}
	return nil
}

func (d *demo) kill(device string, process, step int) error {
	d.say("$ kill -9 %d    # device %s, at step %d", process, device, step)
	p, err := os.FindProcess(process)
	if err != nil {
		return err
	}
	return p.Kill()
}

// show prints those events of a run that interest a user.
func (d *demo) show(e event) {
	switch e.Event {
	case "epoch":
		d.say("  epoch %d: %.1f %% of %d unseen glyphs right", e.Epoch, 100*e.Right, unseen)
	case "device_lost":
		d.say("  device %s is lost; its replicas moved to %s", e.Device, strings.Join(e.MovedTo, ", "))
	case "device_back":
		d.say("  device %s is back from step %d on", e.Device, e.Step)
	case "done":
		d.say("  sha256 %s", e.SHA256)
	}
}
