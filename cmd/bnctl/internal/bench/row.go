package bench

import (
	"slices"
	"time"

	"github.com/bnctl/bnctl/parallel"
)

// Row is the measured speed of a model on some devices.
type Row struct {
	Model      string  `json:"model"`
	Device     string  `json:"device"` // the devices, as the user named them
	Mode       string  `json:"mode"`
	Batch      int     `json:"batch"`
	Threads    int     `json:"threads"` // threads of each CPU device
	Precision  string  `json:"precision"`
	Kernels    string  `json:"kernels"`
	Throughput float64 `json:"images_per_s"`
	P50        float64 `json:"p50_ms"` // median time of a batch
	P99        float64 `json:"p99_ms"`
	PeakRSS    float64 `json:"peak_rss_mb"` // peak memory of this process and its plugins; 0: not known

	Efficiency float64 `json:"efficiency,omitempty"` // images per second and device, relative to the first row
	// Sync is the share of the median step's time that devices wait for each other. SyncMean is the
	// same share for all steps together.
	Sync     float64 `json:"sync_share"`
	SyncMean float64 `json:"sync_share_mean"`

	Profile *Profile `json:"-"` // nil unless Options.Profile is set

	devices       int
	took, blocked time.Duration
	syncShares    []float64 // for each step, the share of its time that devices wait for each other
}

// add adds the times of a training step. Predictions have none.
func (r *Row) add(t parallel.Timing) {
	if t.Took <= 0 {
		return
	}
	r.took, r.blocked = r.took+t.Took, r.blocked+t.Blocked
	r.SyncMean = float64(r.blocked) / float64(r.took)
	fraction := float64(t.Blocked) / float64(t.Took)
	index, _ := slices.BinarySearch(r.syncShares, fraction)
	r.syncShares = slices.Insert(r.syncShares, index, fraction)
	r.Sync = r.syncShares[len(r.syncShares)/2]
}
