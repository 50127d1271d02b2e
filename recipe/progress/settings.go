package progress

import "github.com/bnctl/bnctl/serialize"

// Settings are options of a run that do not change its result. Its checkpoints keep them, so that the rest of
// the run has them too. A zero value is an option that was not given.
type Settings struct {
	Checkpoint      string  `json:"checkpoint,omitempty"` // path of the checkpoint file
	CheckpointEvery int     `json:"checkpoint_every,omitempty"`
	LogEvery        int     `json:"log_every,omitempty"`
	LogDir          string  `json:"log_dir,omitempty"`
	DeviceTimeout   float64 `json:"device_timeout_s,omitempty"` // seconds
	Recompute       string  `json:"recompute,omitempty"`
}

// SettingsOf returns the settings of the run of a checkpoint. It returns the zero value for a checkpoint of
// an older build.
func SettingsOf(k *serialize.Checkpoint) (Settings, error) {
	p, err := Read(k)
	return p.Settings, err
}
