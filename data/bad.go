package data

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Bad is a file of a data source that cannot be read.
type Bad struct {
	Name string
	Err  error
}

// BadFiles is the error that lists all bad files of a source.
type BadFiles struct {
	All   []Bad
	Total int // number of files, readable or not

	cannotSkip bool // value of Options.CannotSkip
}

func (e *BadFiles) Error() string {
	const most = 100
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s are bad:", len(e.All), problem.Plural(e.Total, "file"))
	for _, bad := range e.All[:min(len(e.All), most)] {
		fmt.Fprintf(&b, "\n   member %s: %v", bad.Name, bad.Err)
	}
	if n := len(e.All) - most; n > 0 {
		fmt.Fprintf(&b, "\n   and %d more", n)
	}
	return b.String() + "\n" + e.advice().Error()
}

// advice returns advice on what to do about the bad files.
func (e *BadFiles) advice() *problem.Error {
	if len(e.All) == e.Total || e.cannotSkip {
		return problem.Failure("", "mend or remove them", "")
	}
	return problem.Failure("", "mend or remove them", fmt.Sprintf("or add {skip-bad} %d", len(e.All)))
}

// Unwrap returns the errors of all files, followed by a *problem.Error with advice.
func (e *BadFiles) Unwrap() []error {
	errs := make([]error, 0, len(e.All)+1)
	for _, b := range e.All {
		errs = append(errs, b.Err)
	}
	return append(errs, e.advice())
}

// SkipAll is the value of Options.SkipBad that permits any number of bad files.
const SkipAll = -1

// ParseSkip returns the value of Options.SkipBad for a text. The text is a number, "all" for SkipAll, or ""
// for 0.
func ParseSkip(text string) (int, error) {
	switch text {
	case "":
		return 0, nil
	case "all":
		return SkipAll, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, problem.New("skip-bad", strconv.Quote(text), "want a number of files, or all", "")
	}
	return n, nil
}

// badFiles calls check for every sample on all cores, and returns the errors of check in the order of the
// samples. badFiles itself fails only if ctx has ended.
func (p *pictures) badFiles(ctx context.Context, check func(i int) error) ([]Bad, error) {
	var mu sync.Mutex
	found := map[int]error{}
	err := eachSample(len(p.samples), func(i int) error { // an error of check does not stop this
		err := check(i)
		if err := stream.ContextErr(ctx); err != nil {
			return err
		}
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			found[i] = err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var bad []Bad
	for i := range p.samples {
		if err, ok := found[i]; ok {
			bad = append(bad, Bad{p.samples[i].name, err})
		}
	}
	return bad, nil
}

// removeBad removes bad files from the samples. It is an error if there are more than the options permit.
// Classes and labels stay the same.
func (p *pictures) removeBad(bad []Bad, opt Options) error {
	if len(bad) == 0 {
		return nil
	}
	if most := opt.SkipBad; most != SkipAll && len(bad) > most || len(bad) == len(p.samples) {
		return &BadFiles{bad, len(p.samples), opt.CannotSkip}
	}
	isBad := map[string]bool{}
	for _, b := range bad {
		isBad[b.Name] = true
	}
	var labels []int32
	var samples []sampleFile
	for i, s := range p.samples {
		if !isBad[s.name] {
			samples = append(samples, s)
			if p.labels != nil {
				n := tensor.Count(p.info.LabelShape)
				labels = append(labels, p.labels[i*n:(i+1)*n]...)
			}
		}
	}
	p.samples, p.labels, p.info.Len = samples, slices.Clip(labels), len(samples)
	p.cache, p.info.Skipped = newCache(len(samples), opt), bad
	return nil
}
