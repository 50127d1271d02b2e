package data

import (
	"context"
	"slices"
)

// Relabel returns src with the class numbers of a model. Class i of src becomes class newClass[i], and
// classes are the names of the model's classes. If this changes nothing, it returns src itself. Closing the
// result closes src.
func Relabel(src Source, newClass []int, classes []string) Source {
	same := slices.Equal(src.Info().Classes, classes)
	for i, class := range newClass {
		same = same && i == class
	}
	if same {
		return src
	}
	return &relabelled{src, newClass, classes}
}

// relabelled is a source with other class numbers.
type relabelled struct {
	Source
	newClass []int
	classes  []string
}

func (r *relabelled) Info() Info {
	i := r.Source.Info()
	if i.Classes = r.classes; i.MultiLabel {
		i.LabelShape = []int{len(r.classes)}
	}
	return i
}

func (r *relabelled) Label(ctx context.Context, i int) ([]int32, error) {
	was, err := r.Source.Label(ctx, i)
	if err != nil || was == nil {
		return nil, err
	}
	if info := r.Source.Info(); info.MultiLabel {
		return r.flags(was, info.complete), nil
	}
	if r.Source.Info().Boxes {
		return r.boxes(was), nil
	}
	label := make([]int32, len(was))
	for k, class := range was {
		if label[k] = class; class >= 0 && int(class) < len(r.newClass) {
			label[k] = int32(r.newClass[class])
		}
	}
	return label, nil
}

// flags converts the label of a sample to the classes of the model, if classes do not exclude each other. A
// class that the source does not have is unknown, or absent if the labels of every sample are complete.
func (r *relabelled) flags(was []int32, complete bool) []int32 {
	missing := int32(-1)
	if complete && !slices.Contains(was, -1) {
		missing = 0
	}
	label := slices.Repeat([]int32{missing}, len(r.classes))
	for k, class := range r.newClass {
		label[class] = was[k]
	}
	return label
}

func (r *relabelled) measure(ctx context.Context, i int) (h, w int, err error) {
	return sizeIn(ctx, r.Source, i)
}

func (r *relabelled) path(i int) string { return pathOf(r.Source, i) }

func (r *relabelled) grouped() bool {
	g, ok := r.Source.(grouped)
	return ok && g.grouped()
}

func (r *relabelled) group(i int) string { return r.Source.(grouped).group(i) }

// boxes converts a label of boxes to the classes of the model. Ignored objects stay ignored.
func (r *relabelled) boxes(was []int32) []int32 {
	label := slices.Clone(was)
	for k := BoxFields - 1; k < len(label); k += BoxFields {
		switch class := label[k]; {
		case class >= 0:
			label[k] = int32(r.newClass[class])
		case class < NoBox:
			label[k] = -2 - int32(r.newClass[-2-class])
		}
	}
	return label
}
