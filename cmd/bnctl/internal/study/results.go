// Package study compares ways of batch normalisation by the results of training runs. It shows them in
// tables, plots, an HTML page, and answers to questions with confidence intervals.
//
// Use it for results that exist already (type Results). Package cmd/bnctl/internal/study/experiment trains
// the models and measures the results. Package study runs nothing.
package study

import "slices"

// Arm is one of the ways of training that a study compares.
type Arm string

// The ways of training.
const (
	Single  Arm = "single"  // the whole batch on one device, one replica
	Sync    Arm = "sync"    // batch norm over the whole batch, shared by the replicas
	Replica Arm = "replica" // batch norm over the samples of each replica
	Frozen  Arm = "frozen"  // constant statistics, from the initial weights; one replica
)

// DefaultArms returns the ways that a study compares if the user selects no others.
func DefaultArms() []Arm { return []Arm{Single, Sync, Replica} }

// Setting is a way of training together with the number of replicas that share the batch. For Single and
// Frozen, Replicas is 1, and PerReplica is the whole batch.
type Setting struct {
	Arm        Arm `json:"arm"`
	PerReplica int `json:"per_replica"` // samples per replica in a full batch
	Replicas   int `json:"replicas"`
}

// Run is one training run and its figures.
type Run struct {
	Setting
	Seed     uint64          `json:"seed"`
	Recipe   string          `json:"recipe"` // SHA-256 of the recipe that was trained
	SHA256   string          `json:"sha256"` // SHA-256 of the template with the run's weights and statistics
	Steps    int             `json:"steps"`
	Seconds  float64         `json:"seconds"`
	Epochs   []Epoch         `json:"epochs"`
	Scores   []Score         `json:"scores"`   // scores of the same weights, by statistics
	Retained []VarianceRatio `json:"retained"` // one for each batch norm
}

// Epoch has the figures on the validation data after an epoch.
type Epoch struct {
	Number   int     `json:"epoch"`
	Accuracy float64 `json:"accuracy"`
	Loss     float64 `json:"loss"`
	// MIoU is the mean intersection over union where labels are masks; else nil.
	MIoU *float64 `json:"miou,omitempty"`
	// AP50 is COCO's average precision at an overlap of 0.5 where labels are boxes; else nil.
	AP50 *float64 `json:"ap50,omitempty"`
}

// Score has the figures of the weights of a run, with one set of running statistics.
type Score struct {
	Statistics string  `json:"statistics"`
	Samples    int     `json:"samples"`
	Accuracy   float64 `json:"accuracy"` // share of the samples that are classified correctly
	Loss       float64 `json:"loss"`     // mean cross-entropy
	// MIoU is the mean intersection over union where labels are masks; else nil.
	MIoU *float64 `json:"miou,omitempty"`
	// AP50 is COCO's average precision at an overlap of 0.5 where labels are boxes; else nil.
	AP50 *float64 `json:"ap50,omitempty"`
}

// Refusal states that a setting cannot be trained, and why.
type Refusal struct {
	Setting
	Reason string `json:"reason"`
}

// VarianceRatio compares two merge rules of package bn at the end of a run. It is the running variance by
// rule mean, divided by the running variance by rule pooled, as the mean over the channels of a layer. Both
// are corrected by n/(n-1).
type VarianceRatio struct {
	Layer string  `json:"layer"`
	Ratio float64 `json:"ratio"`
}

// Speed is the measured training speed of a setting.
type Speed struct {
	Setting
	Devices    string  `json:"devices"`
	Threads    int     `json:"threads"` // threads of each CPU device
	Steps      int     `json:"steps"`
	Throughput float64 `json:"images_per_s"`
	Sync       float64 `json:"sync_wait"` // share of the time that devices wait in exchanges
}

// Sampling measures by how much the variance of a few samples is below the variance of all samples. For each
// batch norm it has the mean of the variances Q/n over groups of k samples, divided by the variance Q/(n-1)
// of all samples together. Both are for the same weights and samples.
type Sampling struct {
	Model   string  `json:"model"`
	Recipe  string  `json:"recipe"`  // recipe of the run that trained the weights; "" for new weights
	Samples int     `json:"samples"` // number of all samples
	Layers  []Layer `json:"layers"`
}

// Layer has the ratios of one batch norm in a Sampling.
type Layer struct {
	Name     string  `json:"name"`
	Elements int     `json:"elements"` // number of values that a sample has per channel
	Ratios   []Ratio `json:"ratios"`
}

// Ratio is the ratio of variances that Sampling defines, for groups of PerReplica samples, as the mean over
// the channels.
type Ratio struct {
	PerReplica int     `json:"per_replica"`
	Biased     float64 `json:"biased"` // for the variances Q/n; of n independent values, 1 - 1/n is expected
	Error      float64 `json:"error"`  // standard error of Biased
}

// Results has everything that a study has measured so far.
type Results struct {
	Recipe       string     `json:"recipe"` // SHA-256 of the recipe that all runs share
	Model        string     `json:"model"`
	Data         string     `json:"data"` // kind of the data source: "cifar10"
	Samples      int        `json:"samples"`
	Validation   int        `json:"validation"` // number of validation samples
	Epochs       int        `json:"epochs"`     // 0 if the recipe counts steps
	Steps        int        `json:"steps"`      // number of steps of a run
	Batch        int        `json:"batch"`      // samples in a batch, over all replicas
	PerReplica   []int      `json:"per_replica"`
	Seeds        []uint64   `json:"seeds"`
	Arms         []Arm      `json:"arms,omitempty"`  // nil: DefaultArms
	Masks        bool       `json:"masks,omitempty"` // runs are measured by MIoU
	Boxes        bool       `json:"boxes,omitempty"` // runs are measured by AP50
	LearningRate float64    `json:"learning_rate"`
	Schedule     string     `json:"schedule"`
	Augment      string     `json:"augment"`
	Kernels      string     `json:"kernels"`
	Commands     []string   `json:"commands"` // command lines that measured the results
	Runs         []Run      `json:"runs"`
	Refused      []Refusal  `json:"refused,omitempty"`
	Durations    []Duration `json:"durations,omitempty"`
	Speeds       []Speed    `json:"speeds"`
	Samplings    []Sampling `json:"samplings"`
}

// Settings returns the settings of the study, in the order of its tables.
func (r *Results) Settings() []Setting {
	arms := r.Arms
	if arms == nil {
		arms = DefaultArms()
	}
	var list []Setting
	for _, arm := range []Arm{Single, Frozen} {
		if slices.Contains(arms, arm) {
			list = append(list, Setting{arm, r.Batch, 1})
		}
	}
	for _, k := range r.PerReplica {
		for _, arm := range []Arm{Sync, Replica} {
			if slices.Contains(arms, arm) {
				list = append(list, Setting{arm, k, r.Batch / k})
			}
		}
	}
	return list
}

// Refuse adds a refusal. It replaces an earlier one of the same setting.
func (r *Results) Refuse(why Refusal) {
	r.Refused = slices.DeleteFunc(r.Refused, func(o Refusal) bool { return o.Setting == why.Setting })
	r.Refused = append(r.Refused, why)
}

// IsRefused reports whether a setting cannot be trained.
func (r *Results) IsRefused(s Setting) bool {
	return slices.ContainsFunc(r.Refused, func(why Refusal) bool { return why.Setting == s })
}

// SetRun adds a run. It replaces an earlier run of the same setting and seed.
func (r *Results) SetRun(run Run) {
	r.Runs = slices.DeleteFunc(r.Runs,
		func(o Run) bool { return o.Setting == run.Setting && o.Seed == run.Seed })
	r.Runs = append(r.Runs, run)
}

// SetSpeed adds a speed. It replaces an earlier one of the same setting.
func (r *Results) SetSpeed(v Speed) {
	r.Speeds = slices.DeleteFunc(r.Speeds, func(o Speed) bool { return o.Setting == v.Setting })
	r.Speeds = append(r.Speeds, v)
}

// Find returns the run of a setting, seed and recipe, or nil if it does not exist yet.
func (r *Results) Find(s Setting, seed uint64, recipe string) *Run {
	i := slices.IndexFunc(r.Runs, func(run Run) bool {
		return run.Setting == s && run.Seed == seed && run.Recipe == recipe
	})
	if i < 0 {
		return nil
	}
	return &r.Runs[i]
}

// speed returns the measured speed of a setting, or nil if it was not measured.
func (r *Results) speed(s Setting) *Speed {
	i := slices.IndexFunc(r.Speeds, func(v Speed) bool { return v.Setting == s })
	if i < 0 {
		return nil
	}
	return &r.Speeds[i]
}

// statistics lists the sets of running statistics with which the runs of a setting were evaluated, in their
// order.
func (r *Results) statistics(s Setting) []string {
	var names []string
	for _, run := range r.Runs {
		for _, score := range run.Scores {
			if run.Setting == s && !slices.Contains(names, score.Statistics) {
				names = append(names, score.Statistics)
			}
		}
	}
	return names
}

// scores returns the scores of a setting with one set of statistics, by seed.
func (r *Results) scores(s Setting, statistics string) map[uint64]Score {
	out := map[uint64]Score{}
	for _, run := range r.Runs {
		for _, score := range run.Scores {
			if run.Setting == s && score.Statistics == statistics {
				out[run.Seed] = score
			}
		}
	}
	return out
}
