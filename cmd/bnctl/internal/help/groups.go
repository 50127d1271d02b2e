// Package help groups the flags of a command by topic, and breaks the lines of help texts so that they fit
// into a terminal.
package help

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// groups has the topic of each flag. Help lists the topics in alphabetical order.
var groups = map[string]string{
	"Model": "model init classes freeze labels arch key input size drop rename merge aux-weight",
	"Pictures": "preprocess mean std exif interpolation augment fit overlap ignore mask-values " +
		"mask-suffix csv-columns",
	"Data": "data val val-split split-seed split-groups workers skip-bad task sampling samples " +
		"val-samples",
	"Batch and batch norm": "batch replicas accumulate tail bn bn-stats bn-update bn-min bn-precise " +
		"bn-precise-plain weight-sync",
	"Optimizer and loss": "optimizer lr lr-of momentum nesterov weight-decay decay-all schedule warmup " +
		"clip-norm label-smoothing class-weights loss pos-weights ema find-lr",
	"Length of a run": "epochs steps seed save eval-every patience",
	"Devices": "devices threads kernels precision placement device-timeout recompute device-plugin " +
		"allow-unlocked fabric",
	"Files and progress": "output checkpoint overwrite checkpoint-every resume recipe preset " +
		"print-recipe log-every log-dir view attest attest-key",
}

// least is the smallest number of flags that are grouped. Fewer flags can be read at a glance.
const least = 15

// Group groups the flags of a command by topic. Flags without a topic come first.
func Group(flags []cli.Flag) {
	if len(flags) < least {
		return
	}
	about := map[string]string{}
	for group, names := range groups {
		for _, name := range strings.Fields(names) {
			about[name] = group
		}
	}
	for _, f := range flags {
		group := about[f.Names()[0]]
		switch f := f.(type) {
		case *cli.StringFlag:
			f.Category = group
		case *cli.StringSliceFlag:
			f.Category = group
		case *cli.BoolFlag:
			f.Category = group
		case *cli.IntFlag:
			f.Category = group
		case *cli.Uint64Flag:
			f.Category = group
		case *cli.Float64Flag:
			f.Category = group
		}
	}
}
