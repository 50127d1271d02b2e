package data

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// joiner is the text between the specs of sources that are joined into one.
const joiner = "++"

// joined is a source of the samples of several labelled sources. It has the classes of all of them.
type joined struct{ concatenated }

// openJoined opens the sources of several specs as one source. Classes with the same name become one class.
// The result has all classes, even those that some of the sources do not have.
func openJoined(ctx context.Context, specs []string, opt Options) (_ Source, err error) {
	var sources []Source
	defer func() {
		if err != nil {
			for _, s := range sources {
				s.Close()
			}
		}
	}()
	for _, text := range specs {
		src, err := Open(ctx, text, opt)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	classes, err := commonClasses(specs, sources)
	if err != nil {
		return nil, err
	}
	j := &joined{}
	for i, src := range sources {
		if err := j.add(toClasses(src, classes)); err != nil {
			return nil, fmt.Errorf("%s: %w", specs[i], err)
		}
	}
	first := sources[0].Info()
	j.info.Kind, j.info.Split = strings.Join(kindsIn(sources), joiner), first.Split
	j.info.Labelled, j.info.LabelShape, j.info.Masks = true, first.LabelShape, first.Masks
	if j.info.MultiLabel, j.info.Targets = first.MultiLabel, first.Targets; first.MultiLabel {
		j.info.LabelShape = []int{len(classes)}
	}
	j.info.Classes, j.info.Kinds = classes, map[string]int{}
	for _, src := range sources {
		j.info.merge(src.Info())
	}
	return j, nil
}

// merge adds to i what o states about the files of another source.
func (i *Info) merge(o Info) {
	if o.Decoder != "" {
		i.Decoder, i.EXIF = o.Decoder, o.EXIF
	}
	i.formats = append(i.formats, o.formats...)
	if o.Split != i.Split {
		i.Split = ""
	}
	if !i.MultiLabel && !slices.Equal(i.LabelShape, o.LabelShape) {
		i.LabelShape = nil // masks of several sizes have no common shape
	}
	for extension, n := range o.Kinds {
		i.Kinds[extension] += n
	}
	i.Empty, i.Skipped = append(i.Empty, o.Empty...), append(i.Skipped, o.Skipped...)
}

func kindsIn(sources []Source) (kinds []string) {
	for _, s := range sources {
		kinds = append(kinds, s.Info().Kind)
	}
	return kinds
}

// commonClasses returns the classes of all sources: first the classes of the first source, and then, for each
// other source, the classes that are new, in its order.
func commonClasses(specs []string, sources []Source) ([]string, error) {
	first := sources[0].Info()
	classes := slices.Clone(first.Classes)
	for i, s := range sources {
		info := s.Info()
		switch {
		case !info.Labelled:
			return nil, fmt.Errorf("%w %s: %s has no labels", ErrSpec, strings.Join(specs, joiner), specs[i])
		case info.Masks != first.Masks, info.MultiLabel != first.MultiLabel,
			!slices.Equal(info.Targets, first.Targets),
			!info.Masks && !info.MultiLabel && !slices.Equal(info.LabelShape, first.LabelShape):
			return nil, fmt.Errorf("%w %s: the labels of %s are of another kind than those of %s", ErrSpec,
				strings.Join(specs, joiner), specs[i], specs[0])
		case (info.Masks || len(info.LabelShape) > 0 && !info.MultiLabel) &&
			!slices.Equal(info.Classes, first.Classes):
			return nil, problem.Advise("give all of them the same classes in the same order",
				"%w %s: the classes of %s are others than those of %s", ErrSpec, strings.Join(specs, joiner), specs[i],
				specs[0])
		}
		for _, c := range info.Classes {
			if !slices.Contains(classes, c) {
				classes = append(classes, c)
			}
		}
	}
	return classes, nil
}

// toClasses returns src with labels that are indices of classes, which include all classes of src.
func toClasses(src Source, classes []string) Source {
	names := src.Info().Classes
	if slices.Equal(names, classes) {
		return src
	}
	to := make([]int, len(names))
	for i, c := range names {
		to[i] = slices.Index(classes, c)
	}
	return Relabel(src, to, classes)
}

// Label implements Source.
func (j *joined) Label(ctx context.Context, i int) ([]int32, error) {
	src, i := j.locate(i)
	return src.Label(ctx, i)
}

func (j *joined) path(i int) string {
	src, i := j.locate(i)
	return pathOf(src, i)
}

func (j *joined) grouped() bool {
	return !slices.ContainsFunc(j.sources, func(s Source) bool {
		g, ok := s.(grouped)
		return !ok || !g.grouped()
	})
}

func (j *joined) group(i int) string {
	src, i := j.locate(i)
	return src.(grouped).group(i)
}
