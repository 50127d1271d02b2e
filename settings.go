package bnctl

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/bnctl/bnctl/recipe/progress"
)

// settings returns the options of the run that its checkpoints keep.
func (o *TrainOptions) settings() progress.Settings {
	return progress.Settings{Checkpoint: o.Checkpoint, CheckpointEvery: o.CheckpointEvery, LogEvery: o.LogEvery,
		LogDir: o.LogDir, DeviceTimeout: o.DeviceTimeout.Seconds(), Recompute: o.Recompute}
}

// takeSettings completes the options of a resumed run from its checkpoint.
func (o *TrainOptions) takeSettings(was progress.Settings) {
	o.Checkpoint = cmp.Or(o.Checkpoint, was.Checkpoint)
	o.CheckpointEvery = cmp.Or(o.CheckpointEvery, was.CheckpointEvery)
	o.LogEvery = cmp.Or(o.LogEvery, was.LogEvery)
	o.Recompute = cmp.Or(o.Recompute, was.Recompute)
	o.DeviceTimeout = cmp.Or(o.DeviceTimeout, time.Duration(was.DeviceTimeout*float64(time.Second)))
	if o.LogDir = cmp.Or(o.LogDir, was.LogDir); o.LogDir == NoLogDir {
		o.LogDir = ""
	}
}

// auto is the value of Resume that continues a run if its checkpoint exists, and otherwise begins it.
const auto = "auto"

// resumePath returns the file of the checkpoint to continue from, or "" for a new run.
func (o *TrainOptions) resumePath() string {
	if o.Resume == auto {
		return checkpointPath(o.Checkpoint, o.Output)
	}
	return o.Resume
}

// checkpointPath returns the file for checkpoints: checkpoint, or if that is "" the name of
// the template with the extension .bnc.
func checkpointPath(checkpoint, output string) string {
	if checkpoint != "" || output == "" {
		return checkpoint
	}
	return strings.TrimSuffix(output, filepath.Ext(output)) + ".bnc"
}
