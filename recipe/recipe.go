package recipe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/problem"
)

// Recipe has everything that determines the result of a run: the same recipe
// gives the same template, bit for bit. Devices, threads and paths are not in
// it.
type Recipe struct {
	Release string   `json:"release"` // release of bnctl that began the run
	Model   string   `json:"model"`   // architecture, or the name of the graph
	Graph   string   `json:"graph"`   // SHA-256 of the template's graph in text form
	Init    string   `json:"init"`    // SHA-256 of the given weights; Drawn if the seed decides them
	Freeze  []string `json:"freeze"`  // patterns of state names that are not trained
	// TrainTensors are patterns of names of constants that are trained: see models.WithTrained.
	TrainTensors []string `json:"train_tensors,omitempty"`
	Data         Data     `json:"data"`
	Validation   Data     `json:"validation"` // zero without validation
	// ValSplit is how validation samples were set apart from the data. It is nil if they
	// are separate data, or if there is no validation.
	ValSplit *ValSplit `json:"val_split,omitempty"`
	// Decoder is the version of the decoder of picture files, EXIF whether
	// pictures are turned by the orientation in their files: "apply" or
	// "ignore". Both are "" for other data, and in recipes of older releases,
	// which ignored EXIF.
	Decoder string `json:"decoder,omitempty"`
	EXIF    string `json:"exif,omitempty"`
	// MaskValues and MaskIgnore define the meaning of pixels of masks, as data.MaskOptions.
	MaskValues string `json:"mask_values,omitempty"`
	MaskIgnore string `json:"mask_ignore,omitempty"`
	// Columns names the columns of a table of samples, as data.Options.Columns.
	Columns string `json:"columns,omitempty"`
	// Interpolation is the filter of resizing: "", which is bilinear, or "bicubic".
	Interpolation string `json:"interpolation,omitempty"`
	Seed          uint64 `json:"seed"`

	Epochs     int                       `json:"epochs"` // 0: the run has Steps steps
	Steps      int                       `json:"steps"`
	Batch      int                       `json:"batch"`      // rows of one round, over all replicas
	Replicas   int                       `json:"replicas"`   // replicas of one round
	Accumulate int                       `json:"accumulate"` // rounds per optimizer step
	Tail       parallel.Tail             `json:"tail"`       // handling of an incomplete last batch
	Augment    augmentation.Augmentation `json:"augment"`    // augmentation with all arguments
	// Sampling determines how an epoch chooses its samples. "" uses each once. The weights
	// of classes, "0.5,2,1", draw them with replacement; "balanced" stands for weights
	// until SetData computes them. "column" draws them by the weights of a table; SetData
	// appends a colon and the weights' checksum.
	Sampling string `json:"sampling,omitempty"`

	BN        bn.Mode   `json:"bn"`         // statistics that batch norm normalises with
	BNStats   bn.Rule   `json:"bn_stats"`   // how moments of replicas are merged
	BNUpdate  bn.Update `json:"bn_update"`  // time at which the moments of replicas are merged
	BNMin     string    `json:"bn_min"`     // replicas with too few values: "refuse", or "running" statistics
	BNPrecise int       `json:"bn_precise"` // samples for re-estimation at the end; 0: no re-estimation
	// BNPrecisePlain estimates on images without the augmentation of training.
	BNPrecisePlain bool `json:"bn_precise_plain,omitempty"`

	WeightSync weightsync.Sync `json:"weight_sync"` // how the weights of replicas are synchronised
	Optimizer  string          `json:"optimizer"`   // sgd, adamw or lars
	LR         float64         `json:"lr"`          // largest rate of the schedule
	// LROf are factors of the learning rate of tensors by patterns of their names, "layer1.*=0.1x":
	// the last that matches counts.
	LROf           []string `json:"lr_of,omitempty"`
	Momentum       float64  `json:"momentum"` // momentum of sgd and lars
	Nesterov       bool     `json:"nesterov"`
	WeightDecay    float64  `json:"weight_decay"`
	DecayAll       bool     `json:"decay_all"`       // whether gamma, beta and bias decay, too
	Schedule       string   `json:"schedule"`        // schedule in the form that NewSchedule reads
	Warmup         float64  `json:"warmup"`          // length of the warm-up in epochs
	ClipNorm       float64  `json:"clip_norm"`       // 0: no clipping
	LabelSmoothing float64  `json:"label_smoothing"` // share of a label that all classes get; 0: no smoothing
	// ClassWeights are the weights of classes in the loss, "0.5,2,1"; "median", "balanced" or "auto"
	// until SetData computes them; "": all 1.
	ClassWeights string `json:"class_weights,omitempty"`
	// Loss is "" for classes that exclude each other, "binary" for labels that do not, or
	// "squared", "absolute" or "huber:DELTA" for numbers, or "boxes" or "yolox" for boxes. SetData
	// replaces "" by the loss for the data.
	Loss string `json:"loss,omitempty"`
	// MostBoxes is the most boxes of a sample, if the loss is "yolox". SetData sets it.
	MostBoxes int `json:"most_boxes,omitempty"`
	// PosWeights are the weights of the positives of labels that do not exclude each other,
	// "0.5,2,1"; "balanced" until SetData computes them; "": all 1.
	PosWeights string `json:"pos_weights,omitempty"`
	// TargetStd are the standard deviations of the numbers of the training data. Errors in
	// the loss are in units of these. SetData computes them.
	TargetStd []float64 `json:"target_std,omitempty"`
	AuxWeight float64   `json:"aux_weight,omitempty"` // weight of the auxiliary head's loss; 0: without it
	EMA       float64   `json:"ema"`                  // decay of the averages of weights; 0: no averages
	// EMAWarmup lets the decay rise to EMA: at most (1+n)/(10+n) after n steps. New runs of bnctl.Open
	// have it; recipes of older builds do not, and their runs are resumed without.
	EMAWarmup bool `json:"ema_warmup,omitempty"`

	// QAT means that the weights are trained for an int8 template, with the forward pass of that
	// template.
	QAT bool `json:"qat,omitempty"`
	// After each of the first QATRanges epochs, the ranges of the int8 template are measured again; 0:
	// they are measured only before the first step. After QATFold epochs, batch norms become part of the
	// layers; 0: before the first step. See quantize.Follow.
	QATRanges int `json:"qat_ranges,omitempty"`
	QATFold   int `json:"qat_fold,omitempty"`

	Precision string `json:"precision"` // device.F32 or device.BF16
	Kernels   string `json:"kernels"`   // resolved class, never "auto"

	Save      string `json:"save"`       // "last", or "best:" and one of models.Figures; "best" until SetData
	EvalEvery int    `json:"eval_every"` // epochs between evaluations
	Patience  int    `json:"patience"`   // evaluations without progress; 0: never stop

	// Classes are the numbered kernel classes of the devices, "fma/1"; nil if their class has no number.
	// Numbers are the numbered parts that the run uses, as SetNumbers lists them. Both are nil in recipes of
	// release 0.1 before numbers.
	Classes []string `json:"classes,omitempty"`
	Numbers []string `json:"parts,omitempty"`
}

// Data identifies a data set by its content.
type Data struct {
	Kind        string `json:"kind"`  // "cifar10", "pictures" ...: data.Info.Kind
	Split       string `json:"split"` // "train", "val" or "test"; "" for data without parts
	Samples     int    `json:"samples"`
	Classes     int    `json:"classes"`           // 0: not known by the source
	Fingerprint string `json:"fingerprint"`       // SHA-256 of the content, in hexadecimal
	Skipped     int    `json:"skipped,omitempty"` // bad files that were left out
}

// ValSplit identifies the samples that were set apart for validation.
type ValSplit struct {
	Fraction    float64 `json:"fraction"` // fraction for data.Holdout, and so on
	Seed        uint64  `json:"seed"`
	Groups      string  `json:"groups,omitempty"`
	Copies      string  `json:"copies,omitempty"` // copiesTogether if that matters for the data
	Fingerprint string  `json:"fingerprint"`      // fingerprint of all the data
}

// copiesTogether is the value of ValSplit.Copies for data with equal pictures that were kept together. If
// Copies is "", equal pictures were split like different ones, or no pictures are equal.
const copiesTogether = "together"

// NewValSplit returns the identity of the samples that h sets apart of the data with a
// fingerprint.
func NewValSplit(h data.Holdout, fingerprint string) *ValSplit {
	v := &ValSplit{Fraction: h.Fraction, Seed: h.Seed, Groups: h.Groups, Fingerprint: fingerprint}
	if !h.IgnoreCopies {
		v.Copies = copiesTogether
	}
	return v
}

// Holdout returns the holdout that v describes, or the zero value for nil.
func (v *ValSplit) Holdout() data.Holdout {
	if v == nil {
		return data.Holdout{}
	}
	return data.Holdout{Fraction: v.Fraction, Seed: v.Seed, Groups: v.Groups,
		IgnoreCopies: v.Copies != copiesTogether}
}

// String describes v in words.
func (v *ValSplit) String() string {
	if v == nil {
		return "none"
	}
	text := fmt.Sprintf("%g of data %.12s with seed %d", v.Fraction, v.Fingerprint, v.Seed)
	if v.Groups != "" {
		text += " by groups " + v.Groups
	}
	if v.Copies != "" {
		text += ", equal pictures " + v.Copies
	}
	return text
}

// InWords names data and part, and counts the samples: "glyphs (test), 1000 samples".
func (d Data) InWords() string {
	if d.Split == "" {
		return d.Kind + ", " + problem.Plural(d.Samples, "sample")
	}
	return fmt.Sprintf("%s (%s), %s", d.Kind, d.Split, problem.Plural(d.Samples, "sample"))
}

// StepBatch returns the number of rows of one optimizer step: Batch times Accumulate.
func (r *Recipe) StepBatch() int { return r.Batch * r.Accumulate }

// StepReplicas returns the number of replicas of one optimizer step, the leaves
// of the canonical tree: Replicas times Accumulate.
func (r *Recipe) StepReplicas() int { return r.Replicas * r.Accumulate }

// StepsPerEpoch returns the number of optimizer steps of one epoch. An
// incomplete last batch counts, unless Tail is parallel.Drop.
func (r *Recipe) StepsPerEpoch() int {
	if r.Tail == parallel.Drop {
		return r.Data.Samples / r.StepBatch()
	}
	return (r.Data.Samples + r.StepBatch() - 1) / r.StepBatch()
}

// TotalSteps returns the number of optimizer steps of the run: of Epochs, or Steps if that
// is 0.
func (r *Recipe) TotalSteps() int {
	if r.Epochs > 0 {
		return r.Epochs * r.StepsPerEpoch()
	}
	return r.Steps
}

// JSON returns the recipe in the form stored in checkpoints and templates.
func (r *Recipe) JSON() json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // a recipe has only strings and numbers, which can always be encoded
	}
	return b
}

// Parse parses the result of JSON. An unknown field is an error: it may change the
// result.
func Parse(b []byte) (*Recipe, error) {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	r := Recipe{BNUpdate: bn.EveryStep, WeightSync: weightsync.AllReduce} // older recipes lack these
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	for _, d := range []*Data{&r.Data, &r.Validation} {
		d.Kind, _, _ = strings.Cut(d.Kind, ":") // older recipes of detectors also have the path
	}
	return &r, nil
}

// Difference is a field that differs between two recipes.
type Difference struct {
	Field, Have, Want string
	Why               string // why the difference matters; "" if that is obvious
}

func (d Difference) String() string {
	s := fmt.Sprintf("%s is %s, was %s", d.Field, d.Have, d.Want)
	if d.Why != "" {
		s += " (" + d.Why + ")"
	}
	return s
}

// inWords writes two values of a field that differ.
func inWords(have, want any) (string, string) {
	write := func(v any) string {
		switch v := v.(type) {
		case []string:
			return cmp.Or(strings.Join(v, ", "), "none")
		case Data:
			if v.Kind != "" {
				return v.InWords()
			}
			return "none"
		case string:
			return cmp.Or(v, "none")
		}
		return fmt.Sprint(v)
	}
	a, b := write(have), write(want)
	x, ok := have.(Data)
	if y, _ := want.(Data); ok && a == b { // equal numbers, but different samples
		switch {
		case x.Fingerprint != y.Fingerprint:
			a, b = a+" of the fingerprint "+short(x.Fingerprint), b+" of "+short(y.Fingerprint)
		case x.Classes != y.Classes:
			a, b = a+" of "+problem.Plural(x.Classes, "class"), b+" of "+problem.Plural(y.Classes, "class")
		default:
			a, b = a+" but for "+problem.Plural(x.Skipped, "bad file"), b+" but for "+problem.Plural(y.Skipped,
				"bad file")
		}
	}
	return a, b
}

// short returns the beginning of a fingerprint, which suffices to distinguish it.
func short(fingerprint string) string { return fingerprint[:min(len(fingerprint), 12)] }

// Differences compares r with the recipe of a checkpoint, field by field, and returns the
// fields that differ. Larger Epochs or Steps do not count as a difference, unless completed
// steps depended on the length of the run, as with a cosine schedule; then Why explains it.
func (r *Recipe) Differences(was *Recipe) []Difference {
	var out []Difference
	a, b := reflect.ValueOf(*r), reflect.ValueOf(*was)
	for i := range a.NumField() {
		f := a.Type().Field(i)
		have, want := a.Field(i).Interface(), b.Field(i).Interface()
		if x, ok := have.(Data); ok && r.Decoder != was.Decoder {
			// Two decoders make two fingerprints of the same files.
			y := want.(Data)
			x.Fingerprint, y.Fingerprint = "", ""
			have, want = x, y
		}
		if reflect.DeepEqual(have, want) || r.leavesOut(f.Name, was) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		d := Difference{Field: name}
		d.Have, d.Want = inWords(have, want)
		if longer := f.Name == "Epochs" || f.Name == "Steps"; longer && b.Field(i).Int() > 0 &&
			a.Field(i).Int() > b.Field(i).Int() {
			if d.Why = was.endIsFixed(); d.Why == "" {
				continue
			}
		}
		if f.Name == "Decoder" && was.Decoder == "" {
			d.Want = "1, which recipes do not name"
		}
		out = append(out, d)
	}
	return out
}

// leavesOut reports whether a difference in a field has no effect on bits. This is the release, if both
// recipes have numbers. It is also the numbers, if one of the recipes has none: its bits depend on the
// release.
func (r *Recipe) leavesOut(field string, was *Recipe) bool {
	both := r.Numbered() && was.Numbered()
	switch field {
	case "Release":
		return both
	case "Numbers", "Classes":
		return !both
	}
	return false
}

// endIsFixed returns why a run of r cannot become longer, or "" if it can.
func (r *Recipe) endIsFixed() string {
	if looksAhead(r.Schedule) {
		return "the learning rate of a " + r.Schedule + " schedule depends on the length of the run from its " +
			"first step on; runs with {schedule} constant or step can be made longer"
	}
	per := r.StepsPerEpoch()
	whole := per > 0 && r.TotalSteps()%per == 0 && r.TotalSteps()/per%max(r.EvalEvery, 1) == 0
	if !whole && (r.Save != "last" || r.Patience > 0 || strings.HasPrefix(r.Schedule, "plateau")) {
		return "the run was evaluated at its end, where a longer one is not, and {save}, {patience} or " +
			"{schedule} depends on it"
	}
	return ""
}
