package objects

import (
	"slices"

	"github.com/bnctl/bnctl/data"
)

// Report describes a set. data info --json prints its fields.
type Report struct {
	Spec            string        `json:"source"`
	Pictures        int           `json:"pictures"`
	WithoutBoxes    int           `json:"pictures_without_boxes"`
	Boxes           int           `json:"boxes"`
	Difficult       int           `json:"difficult"`
	Crowd           int           `json:"crowd"`
	Outside         int           `json:"boxes_outside"` // boxes that extend beyond their pictures
	Empty           int           `json:"boxes_empty"`
	Duplicates      int           `json:"duplicates"`   // boxes equal to another of the picture and class
	Small           int           `json:"boxes_small"`  // boxes with an area below 32 x 32
	Medium          int           `json:"boxes_medium"` // boxes with an area from 32 x 32 to below 96 x 96
	Large           int           `json:"boxes_large"`
	Splits          []SplitReport `json:"splits,omitempty"`
	Classes         []ClassReport `json:"classes"`
	BoxesPerPicture Quantiles     `json:"boxes_per_picture"`
	Width           Quantiles     `json:"width"`        // widths of boxes, in pixels
	Height          Quantiles     `json:"height"`       // heights of boxes, in pixels
	AspectRatio     Quantiles     `json:"aspect_ratio"` // width / height of boxes
	PictureWidth    Quantiles     `json:"picture_width"`
	PictureHeight   Quantiles     `json:"picture_height"`
}

// SplitReport counts the pictures and boxes of a split.
type SplitReport struct {
	Split    data.Split `json:"split"`
	Pictures int        `json:"pictures"`
	Boxes    int        `json:"boxes"`
}

// ClassReport counts the boxes of a class, and the pictures that have a box of it.
type ClassReport struct {
	Name     string `json:"name"`
	Boxes    int    `json:"boxes"`
	Pictures int    `json:"pictures"`
}

// Quantiles are the smallest value, the lower quartile, the median, the upper quartile and the largest value.
// Each is one of the values. If a quantile is between two values, it is the lower one. All are 0 if there are
// no values.
type Quantiles [5]float64

func quantilesOf(values []float64) (q Quantiles) {
	if len(values) == 0 {
		return q
	}
	slices.Sort(values)
	for i := range q {
		q[i] = values[(len(values)-1)*i/4]
	}
	return q
}

// Survey counts the pictures, boxes and classes of a set.
func Survey(s *Set) *Report {
	v := &survey{set: s, report: &Report{Spec: s.Spec, Pictures: len(s.Pictures)}}
	for _, name := range s.Classes {
		v.report.Classes = append(v.report.Classes, ClassReport{Name: name})
	}
	for i := range s.Pictures {
		v.picture(&s.Pictures[i])
	}
	r := v.report
	r.BoxesPerPicture, r.Width, r.Height = quantilesOf(v.counts), quantilesOf(v.widths), quantilesOf(v.heights)
	r.AspectRatio, r.PictureWidth = quantilesOf(v.ratios), quantilesOf(v.pictureWidths)
	r.PictureHeight = quantilesOf(v.pictureHeights)
	return r
}

// survey is a report that is being made, with the values for its quantiles.
type survey struct {
	set                             *Set
	report                          *Report
	counts, widths, heights, ratios []float64
	pictureWidths, pictureHeights   []float64
}

func (v *survey) picture(p *Picture) {
	r := v.report
	if len(p.Objects) == 0 {
		r.WithoutBoxes++
	}
	v.split(p)
	v.counts = append(v.counts, float64(len(p.Objects)))
	v.pictureWidths = append(v.pictureWidths, float64(p.Width))
	v.pictureHeights = append(v.pictureHeights, float64(p.Height))
	classes := map[int]bool{}
	seen := map[Object]bool{}
	for _, o := range p.Objects {
		r.Classes[o.Class].Boxes++
		classes[o.Class] = true
		same := Object{Box: o.Box, Class: o.Class}
		if seen[same] {
			r.Duplicates++
		}
		seen[same] = true
		v.object(p, o)
	}
	for c := range classes {
		r.Classes[c].Pictures++
	}
}

func (v *survey) object(p *Picture, o Object) {
	r := v.report
	r.Boxes++
	r.Difficult += count(o.Difficult)
	r.Crowd += count(o.Crowd)
	r.Outside += count(o.Box.exceeds(p.Width, p.Height))
	switch {
	case o.Area < 32*32:
		r.Small++
	case o.Area < 96*96:
		r.Medium++
	default:
		r.Large++
	}
	v.widths, v.heights = append(v.widths, o.Box.Width()), append(v.heights, o.Box.Height())
	if o.Box.Area() == 0 {
		r.Empty++
		return
	}
	v.ratios = append(v.ratios, o.Box.Width()/o.Box.Height())
}

func (v *survey) split(p *Picture) {
	if p.Split == "" {
		return
	}
	r := v.report
	at := slices.IndexFunc(r.Splits, func(s SplitReport) bool { return s.Split == p.Split })
	if at < 0 {
		at = len(r.Splits)
		r.Splits = append(r.Splits, SplitReport{Split: p.Split})
	}
	r.Splits[at].Pictures++
	r.Splits[at].Boxes += len(p.Objects)
}

func count(condition bool) int {
	if condition {
		return 1
	}
	return 0
}
