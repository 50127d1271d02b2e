package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "the promise in a minute, without files or network",
		Description: `Trains a small network on glyphs on one device; trains the same recipe on three,
kills one of them half-way, and shows that both templates have one sha256. Then
strips, says what was removed, lets doctor find a NaN that it has planted, and
predicts glyphs that training has not seen.
Every line that begins with $ can be pasted.

   bnctl demo
   bnctl demo --keep files
   bnctl demo --json | tail -1`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "work in `DIR` and leave the files there"},
		},
		Action: demoAction,
	}
}

func demoAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder, leave, err := demoFolder(c.String("keep"))
	if err != nil {
		return err
	}
	defer leave()
	d := &demo{ctx: c.Context, out: outputOf(c), self: self, folder: folder, began: time.Now()}
	return d.run()
}

// demoFolder makes the folder to work in. leave removes it unless it is to be kept.
func demoFolder(keep string) (folder string, leave func(), err error) {
	if keep == "" {
		folder, err = os.MkdirTemp("", "bnctl-demo-")
		return folder, func() { os.RemoveAll(folder) }, err
	}
	if folder, err = filepath.Abs(keep); err == nil {
		err = os.MkdirAll(folder, 0o777)
	}
	return folder, func() {}, err
}

// What the demo trains: every run of this recipe makes the same template.
const (
	demoUnseen   = 1000 // glyphs that are evaluated and predicted
	demoAccuracy = 0.97 // of them, at least
)

var demoRecipe = []string{"train", "--model", "lenet-bn", "--data", "glyphs",
	"--val", fmt.Sprintf("glyphs:%d", demoUnseen), "--epochs", "2"}

// demoResult is the last line of demo --json.
type demoResult struct {
	Accuracy    float64 `json:"accuracy"`
	SHA256      string  `json:"sha256"`
	SameBits    bool    `json:"same_bits"`
	DevicesLost int     `json:"devices_lost"`
	Removed     any     `json:"removed"`
	Seconds     float64 `json:"seconds"`
}

func (d *demo) run() error {
	d.say("$ cd %s", d.folder)
	for _, step := range []func() error{d.trainOnOne, d.trainOnThree, d.strip, d.doctor, d.predict, d.draw} {
		if err := step(); err != nil {
			return err
		}
	}
	d.result.Seconds = time.Since(d.began).Seconds()
	d.say("\n%.1f s; %.1f %% of %d unseen glyphs right; %s",
		d.result.Seconds, 100*d.result.Accuracy, demoUnseen, d.verdict())
	d.out.event("demo", d.result)
	if !d.result.SameBits {
		return fmt.Errorf("demo: the bits differ: %s; please report this with the lines above", d.differs)
	}
	if d.result.Accuracy < demoAccuracy {
		return fmt.Errorf("demo: %.1f %% of unseen glyphs right, want %.0f %%; "+
			"please report this with the lines above", 100*d.result.Accuracy, 100*demoAccuracy)
	}
	return nil
}

func (d *demo) verdict() string {
	if !d.result.SameBits {
		return "the bits differ"
	}
	return "one device, three devices, one killed: the same template, bit for bit"
}
