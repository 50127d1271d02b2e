package data

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// OpenAll opens a source and decodes all of its picture files. Info().Skipped lists all files that cannot be
// read. If there are more of them than o.SkipBad, OpenAll returns an error that lists them. OpenAll also
// opens the other parts of the data, for Survey.
func OpenAll(ctx context.Context, spec string, o Options) (Source, error) {
	most := o.SkipBad
	o.SkipBad = SkipAll
	src, err := Open(ctx, spec, o)
	if err != nil {
		return nil, err
	}
	if i := src.Info(); most != SkipAll && len(i.Skipped) > most {
		src.Close()
		return nil, fmt.Errorf("%s: %w", spec, &BadFiles{All: i.Skipped, Total: i.Len + len(i.Skipped)})
	}
	o.SkipBad = most
	return &withParts{src, otherParts(ctx, src, spec, o)}, nil
}

// withParts is a source that also has the other parts of its data.
type withParts struct {
	Source
	others []Source
}

// Close implements Source.
func (w *withParts) Close() error {
	err := w.Source.Close()
	for _, other := range w.others {
		err = errors.Join(err, other.Close())
	}
	return err
}

// otherParts opens the parts of the data other than src. It returns nothing for data without parts.
func otherParts(ctx context.Context, src Source, text string, o Options) (others []Source) {
	form := text
	for _, split := range []Split{Train, Val, Test} {
		form = strings.TrimSuffix(form, "@"+string(split))
	}
	for _, split := range []Split{Train, Val, Test} {
		if src.Info().Split == split || src.Info().Split == "" {
			continue
		}
		other, err := Open(ctx, form+"@"+string(split), o)
		if err != nil {
			continue
		}
		if other.Info().Split == split {
			others = append(others, other)
		} else {
			other.Close()
		}
	}
	return others
}
