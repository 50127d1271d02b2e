// Package demo demonstrates bnctl in a minute, without files or network. It trains the same recipe on one
// device and on three, kills one of the three, and compares the templates. Then it checks that strip, doctor
// and predict agree with the training. It runs the command bnctl in separate processes. A user can paste the
// command lines that it prints.
//
// Use it for a presentation, or to check an installation.
package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// Options are the program to run, its folder, and how progress is reported.
type Options struct {
	Program string // path of the command bnctl
	Folder  string // folder for the files; "": a temporary folder
	// Say is called with a message for every step of the demo, and Line with every line of JSON that a command
	// prints. Each may be nil.
	Say  func(format string, args ...any)
	Line func(text string)
}

// Result has the figures of the demo.
type Result struct {
	Accuracy    float64 `json:"accuracy"`
	SHA256      string  `json:"sha256"`
	SameBits    bool    `json:"same_bits"`
	DevicesLost int     `json:"devices_lost"`
	Removed     any     `json:"removed"`
	Seconds     float64 `json:"seconds"`
}

// please is the advice after the demo has failed.
const please = "please report this with the lines above"

// Run runs the demo. The result is nil if the demo did not finish. If it finished but a check failed,
// Run returns a result and an error.
func Run(ctx context.Context, o Options) (*Result, error) {
	folder, leave, err := workFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	defer leave()
	d := &demo{ctx: ctx, Options: o, folder: folder, began: time.Now()}
	return d.run()
}

// workFolder returns the folder to work in: keep, or a new folder if keep is "". leave removes a new folder.
func workFolder(keep string) (folder string, leave func(), err error) {
	if keep == "" {
		folder, err = os.MkdirTemp("", "bnctl-demo-")
		return folder, func() { os.RemoveAll(folder) }, err
	}
	if folder, err = filepath.Abs(keep); err == nil {
		err = os.MkdirAll(folder, 0o777)
	}
	return folder, func() {}, err
}

// The recipe of the demo. Every run with it makes the same template.
const (
	unseen   = 1000 // number of glyphs, not seen in training, that are evaluated and predicted
	accuracy = 0.97 // least accuracy on these pictures
)

var recipe = []string{"train", "--model", "lenet-bn", "--data", "glyphs",
	"--val", fmt.Sprintf("glyphs:%d", unseen), "--epochs", "2"}

func (d *demo) run() (*Result, error) {
	d.say("$ cd %s", d.folder)
	for _, step := range []func() error{d.trainOnOne, d.trainOnThree, d.strip, d.doctor, d.predict, d.draw} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	d.result.Seconds = time.Since(d.began).Seconds()
	d.say("\n%.1f s; %.1f %% of %d unseen glyphs right; %s",
		d.result.Seconds, 100*d.result.Accuracy, unseen, d.verdict())
	if !d.result.SameBits {
		return &d.result, problem.Advise(please, "demo: the bits differ: %s", d.differs)
	}
	if d.result.Accuracy < accuracy {
		return &d.result, problem.Advise(please, "demo: %.1f %% of unseen glyphs right, want %.0f %%",
			100*d.result.Accuracy, 100*accuracy)
	}
	return &d.result, nil
}

func (d *demo) verdict() string {
	if !d.result.SameBits {
		return "the bits differ"
	}
	return "one device, three devices, one killed: the same template, bit for bit"
}
