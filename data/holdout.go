package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// Holdout selects the samples of a source that are set apart for validation. The selection depends only on
// the names, the labels and the seed, never on the order of the files.
//
// Within each class, samples are sorted by the SHA-256 of the decimal digits of Seed, a zero byte and the
// path of the sample below its split, for example cat/1.jpg. In a source without files, the number of the
// sample replaces the path. Of n samples, the first round(Fraction * n), at least 1 and at most n-1, are for
// validation. A class with one sample stays in training. If labels are masks, all samples are in one class.
//
// With Groups, whole groups are for validation. All groups are sorted by the SHA-256 of their names, and the
// first round(Fraction * groups) are selected.
//
// Equal pictures stay together. They are sorted by the first of their paths. If they would exceed the number
// to be selected, later samples are selected in their place. If equal pictures have different classes, they
// stay in training. Groups that have equal pictures are treated as one group. If there are no equal pictures,
// the selection is the same as with IgnoreCopies.
type Holdout struct {
	Fraction float64 // share of the samples, above 0 and below 1; 0: no samples are set apart
	Seed     uint64
	// Unsplit sets samples apart only if the data has no part val.
	Unsplit bool
	// Groups is a regular expression that finds the group of a sample in its path: the first submatch, or
	// without submatches the whole match. "column" means that the column group of a csv: source has the groups.
	// "" means that there are no groups.
	Groups string
	// IgnoreCopies treats equal pictures like different ones.
	IgnoreCopies bool
}

// groupColumn is the value of Holdout.Groups for groups that the source itself has.
const groupColumn = "column"

// autoFraction is the share that "auto" sets apart if the data has no part val.
const autoFraction = 0.2

// ParseFraction reads the share of samples that are set apart: a number above 0 and below 1, or "auto" for a
// fifth of the samples if the data has no part val. "" means that no samples are set apart.
func (h *Holdout) ParseFraction(text string) (err error) {
	switch text {
	case "":
		return nil
	case "auto":
		h.Fraction, h.Unsplit = autoFraction, true
		return nil
	}
	if h.Fraction, err = strconv.ParseFloat(text, 64); err != nil || !(h.Fraction > 0 && h.Fraction < 1) {
		return problem.New("val-split", text, "want a share above 0 and below 1, such as 0.2, or auto", "")
	}
	return nil
}

// HeldOut is a source that is divided into two parts.
type HeldOut struct {
	Training, Validation Source   // the two parts; each must be closed
	Single               []string // classes with a single sample, or only copies of one; they are in Training
	Copies               int      // number of samples that were kept together with equal ones
	source               *sharedSource
}

// Fingerprint returns the fingerprint of the whole source.
func (h *HeldOut) Fingerprint(ctx context.Context) (string, error) { return h.source.Fingerprint(ctx) }

// Check returns an error if the values of h are invalid.
func (h Holdout) Check() error {
	if h.Fraction == 0 {
		return problem.New("val-split", "", "nothing is set apart, and {split-seed} and {split-groups} say of what",
			"give a share such as 0.2, or leave them off")
	}
	if !(h.Fraction > 0 && h.Fraction < 1) {
		return problem.New("val-split", fmt.Sprint(h.Fraction), "want a share above 0 and below 1, such as 0.2", "")
	}
	_, err := h.pattern()
	return err
}

func (h Holdout) pattern() (*regexp.Regexp, error) {
	if h.Groups == "" || h.Groups == groupColumn {
		return nil, nil
	}
	p, err := regexp.Compile(h.Groups)
	if err != nil {
		return nil, problem.New("split-groups", strconv.Quote(h.Groups), "no regular expression: "+err.Error(),
			"write one such as '^[^_]*', or column")
	}
	return p, nil
}

// Split divides src into two parts. The result owns src, and closes it when both parts are closed.
func (h Holdout) Split(ctx context.Context, src Source) (*HeldOut, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	labels, err := strata(ctx, src)
	if err != nil {
		return nil, err
	}
	out := &HeldOut{}
	var copies [][]reference
	if !h.IgnoreCopies {
		if copies, _, err = usualLimits().equalPictures(ctx, src); err != nil {
			return nil, err
		}
	}
	for _, g := range copies {
		out.Copies += len(g)
	}
	var apart []bool
	if h.Groups == "" {
		apart = h.byClass(src, labels, copies, out)
	} else if apart, err = h.byGroup(src, copies); err != nil {
		return nil, err
	}
	if err := checkApart(src.Info(), labels, apart); err != nil {
		return nil, err
	}
	if !slices.Contains(apart, true) {
		return nil, problem.New("val-split", fmt.Sprint(h.Fraction), "no class has two samples: none can be set "+
			"apart", "add samples, or name others with {val}")
	}
	out.partition(src, apart)
	return out, nil
}

// OpenHeldOut is like Open, for data from which h may have set samples apart. If the data has this
// fingerprint, the suffixes @train and @val select the two parts. Other data is opened as it is; it is an
// error if it does not have the requested split.
func OpenHeldOut(ctx context.Context, text string, opt Options, h Holdout, fingerprint string) (
	Source, error) {
	return Opener(Open).OpenHeldOut(ctx, text, opt, h, fingerprint)
}

// Opener opens data: Open, or a function that accepts further forms.
type Opener func(ctx context.Context, text string, opt Options) (Source, error)

// OpenHeldOut is like the function OpenHeldOut, and opens the data with open.
func (open Opener) OpenHeldOut(ctx context.Context, text string, opt Options, h Holdout, fingerprint string) (
	Source, error) {
	form, isVal := strings.CutSuffix(text, "@"+string(Val))
	if !isVal {
		var ok bool
		if form, ok = strings.CutSuffix(text, "@"+string(Train)); !ok {
			return open(ctx, text, opt)
		}
	}
	opt.Split = Train
	src, err := open(ctx, form, opt)
	if err != nil {
		named, other := open(ctx, text, opt) // the data may have the requested split without having train
		var bad *BadFiles
		if other != nil && errors.As(err, &bad) {
			return nil, err
		}
		return named, other
	}
	sum, err := src.Fingerprint(ctx)
	if err != nil || sum != fingerprint {
		src.Close()
	}
	if err != nil {
		return nil, err
	}
	if sum != fingerprint {
		if src, err := open(ctx, text, opt); err == nil {
			return src, nil
		}
		columns := ""
		if strings.HasPrefix(text, "csv:") {
			columns = "with the {csv-columns} that it had, "
		}
		return nil, problem.Failure("", fmt.Sprintf("%s: the samples that training set apart are those of other "+
			"data: its fingerprint is %.12s, this one's %.12s", text, fingerprint, sum),
			"name the data of the training, "+columns+"or leave the suffix off")
	}
	split, err := h.Split(ctx, src)
	if err != nil {
		src.Close()
		return nil, err
	}
	chosen, other := split.Training, split.Validation
	if isVal {
		chosen, other = other, chosen
	}
	return chosen, other.Close()
}

// strata returns the class of each sample. It is 0 for all samples if labels are not class numbers.
func strata(ctx context.Context, src Source) ([]int32, error) {
	info := src.Info()
	labels := make([]int32, info.Len)
	if !info.Labelled || info.Masks || len(info.LabelShape) > 0 {
		return labels, nil
	}
	for i := range labels {
		label, err := src.Label(ctx, i)
		if err != nil {
			return nil, err
		}
		labels[i] = label[0]
	}
	return labels, nil
}

// groupOf returns a function that returns the name of the group of sample i.
func (h Holdout) groupOf(src Source) (func(i int) (string, error), error) {
	if h.Groups == groupColumn {
		g, ok := src.(grouped)
		if !ok || !g.grouped() {
			return nil, problem.New("split-groups", h.Groups, src.Info().Kind+" has no column group",
				"give a regular expression that finds the group in a path, such as '^[^_]*'")
		}
		return func(i int) (string, error) { return g.group(i), nil }, nil
	}
	pattern, err := h.pattern()
	return func(i int) (string, error) {
		path := pathOf(src, i)
		if src.Info().Boxes {
			path = src.Name(i)
		}
		m := pattern.FindStringSubmatch(path)
		if m == nil {
			return "", problem.New("split-groups", h.Groups, "it finds nothing in "+path, "match every sample")
		}
		return m[min(1, len(m)-1)], nil
	}, err
}

// checkApart returns an error if all samples of some class are set apart, so that training has none.
func checkApart(info Info, labels []int32, apart []bool) error {
	training, validation := map[int32]bool{}, map[int32]bool{}
	for i, label := range labels {
		if label < 0 {
			continue
		}
		if apart[i] {
			validation[label] = true
		} else {
			training[label] = true
		}
	}
	var lost []string
	for label := range validation {
		if !training[label] {
			lost = append(lost, className(info, label))
		}
	}
	if slices.Sort(lost); len(lost) > 0 {
		return problem.New("val-split", "", "no sample is left to train on of class "+names.First(lost),
			"take a smaller share, other groups or another {split-seed}")
	}
	return nil
}

func className(info Info, label int32) string {
	if label >= 0 && int(label) < len(info.Classes) {
		return info.Classes[label]
	}
	return strconv.Itoa(int(label))
}

// pathed is a source with paths of samples. They have slashes, and are relative to the split of the sample.
type pathed interface{ path(i int) string }

// grouped is a source that may have a group for each sample.
type grouped interface {
	grouped() bool
	group(i int) string
}

// pathOf returns the path of a sample below its split, or its number.
func pathOf(src Source, i int) string {
	if p, ok := src.(pathed); ok {
		return cmp.Or(p.path(i), strconv.Itoa(i))
	}
	return strconv.Itoa(i)
}

func (p *pictures) path(i int) string {
	if s := p.samples[i]; s.class != "" && !p.table {
		return s.class + "/" + s.rest
	}
	return p.samples[i].rest
}
