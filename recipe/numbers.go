package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parts"
	"github.com/bnctl/bnctl/problem"
)

// NumberedClasses returns the numbered kernel classes of a training on a group of devices: "fma/1".
// It is empty if a device lacks the number, or if the devices have several classes.
func NumberedClasses(group []parallel.Member) []string {
	var common []string
	for i, m := range group {
		info := m.Device.Info()
		var both []string
		for _, number := range info.Classes {
			name, _, ok := class.ParseNumber(number)
			if ok && name == info.Kernels && info.Has(device.Deterministic) &&
				(i == 0 || slices.Contains(common, number)) {
				both = append(both, number)
			}
		}
		common = both
	}
	slices.Sort(common)
	return common
}

// SetClasses writes into r the numbered kernel classes of a training on a group of devices: those of
// NumberedClasses, and the class of bytes if r trains for int8.
func (r *Recipe) SetClasses(group []parallel.Member) {
	if r.Classes = NumberedClasses(group); r.QAT && r.Classes != nil {
		r.Classes = append(r.Classes, class.Numbered(class.Int8Class, device.F32)...)
	}
	slices.Sort(r.Classes)
	r.Classes = slices.Compact(r.Classes)
}

// Numbered reports whether a recipe lists the numbers of its parts. Recipes of release 0.1 before
// numbers do not: their bits are promised within that release.
func (r *Recipe) Numbered() bool { return r.Numbers != nil }

// SetNumbers writes into r the numbers of the parts that it uses: see package parts. Call it after
// SetData, with the model and the data of the run. imported is the format of the file that the weights
// came from (modelfile.Choice), "bnctl", or "" if all were drawn.
func (r *Recipe) SetNumbers(m *models.Model, training, validation data.Source, imported string) {
	u := &usedParts{}
	infos := []data.Info{training.Info()}
	if validation != nil {
		infos = append(infos, validation.Info())
		u.add("evaluation")
	}
	for _, info := range infos {
		u.data(m, info, r.Interpolation)
	}
	u.augmentation(r.Augment.String())
	u.weights(r, imported)
	u.training(r)
	u.statistics(r, m)
	slices.Sort(u.numbers)
	r.Numbers = slices.Compact(u.numbers)
}

// InputNumbers returns the numbers of the parts that make the input of m from data, sorted. Call it after
// the fingerprint of the data, which finds the formats of picture files.
func InputNumbers(m *models.Model, info data.Info) []string {
	u := &usedParts{}
	u.data(m, info, m.Preprocess.Interpolation)
	slices.Sort(u.numbers)
	return slices.Compact(u.numbers)
}

// usedParts collects the numbers of parts.
type usedParts struct{ numbers []string }

// add adds parts by name. It skips a name without a number: this name comes from a field that Check
// refuses.
func (u *usedParts) add(names ...string) {
	for _, name := range names {
		if number := parts.Number(name); number != "" {
			u.numbers = append(u.numbers, number)
		}
	}
}

// data adds the parts that make the input of m from data. interpolation "" is bilinear.
func (u *usedParts) data(m *models.Model, info data.Info, interpolation string) {
	for _, format := range info.Formats() {
		u.add("decode." + format)
	}
	if info.EXIF {
		u.add("exif")
	}
	for _, kind := range []string{"glyphs", "shapes"} {
		if info.Kind == kind {
			u.add("data." + kind)
		}
	}
	if in := m.Input(); info.Pictures() && len(in.Shape) == 3 && !slices.Equal(info.Shape, in.Shape) {
		u.add("resize." + cmp.Or(interpolation, "bilinear"))
	}
}

// augmentation adds the operations of an augmentation.
func (u *usedParts) augmentation(text string) {
	for word := range strings.FieldsSeq(text) {
		if name, _, _ := strings.Cut(word, ":"); name != "none" {
			u.add("augment." + name)
		}
	}
}

// weights adds the parts that make the initial weights.
func (u *usedParts) weights(r *Recipe, imported string) {
	u.add("init")
	if r.Init == Drawn {
		return
	}
	format, _, _ := strings.Cut(imported, " ") // "keras h5", "tensorflow bundle"
	if name := "import." + cmp.Or(format, "bnctl"); parts.Number(name) != "" {
		u.add(name)
		return
	}
	u.add("import.pytorch") // this format is a container of it, under another name
}

// training adds the parts of a step.
func (u *usedParts) training(r *Recipe) {
	u.add("order", "gradient", "sums", "optimizer."+r.Optimizer)
	if r.Sampling != "" {
		u.add("sampling")
	}
	loss, _, _ := strings.Cut(cmp.Or(r.Loss, "classes"), ":")
	u.add("loss." + loss)
	if r.AuxWeight > 0 {
		u.add("loss.auxiliary")
	}
	schedule, _, _ := strings.Cut(r.Schedule, ":")
	u.add("schedule." + schedule)
	for name, used := range map[string]bool{"schedule.warmup": r.Warmup > 0, "optimizer.clip": r.ClipNorm > 0,
		"ema": r.EMA > 0, "quantise": r.QAT,
		"sync.local": r.HasSeparateWeights(), "sync.async": r.HasLateGradients()} {
		if used {
			u.add(name)
		}
	}
}

// statistics adds the parts that keep running statistics.
func (u *usedParts) statistics(r *Recipe, m *models.Model) {
	if !m.Normalises() && r.QATFold == 0 || r.BN == bn.Frozen {
		return
	}
	if u.add("statistics." + string(r.BN)); r.BN == bn.Replica {
		if _, async := r.BNUpdate.Span(); async {
			u.add("statistics.async")
		} else if r.BNUpdate == bn.PostHoc {
			u.add("statistics.posthoc")
		}
	}
	if r.AveragesWeights() || r.BNPrecise > 0 {
		u.add("statistics.estimate")
	}
}

// KeepImports adds the parts that made the initial weights of a resumed run. was is the recipe of its
// checkpoint. The added parts get the numbers of this release.
func (r *Recipe) KeepImports(was *Recipe) {
	u := &usedParts{slices.DeleteFunc(r.Numbers, func(p string) bool { return strings.HasPrefix(p, "import.") })}
	for _, number := range was.Numbers {
		if name, _, _ := strings.Cut(number, "/"); strings.HasPrefix(name, "import.") && parts.Number(name) != "" {
			u.add(name)
		}
	}
	slices.Sort(u.numbers)
	r.Numbers = slices.Compact(u.numbers)
}

// CheckNumbers returns an error if this release lacks a number that the recipe lists. It names the
// last release that has it, if there is one.
func (r *Recipe) CheckNumbers() error {
	for _, number := range r.Numbers {
		if !parts.Has(number) {
			return lacks("part", number, parts.Retired(number), parts.All())
		}
	}
	for _, number := range r.Classes {
		if !slices.Contains(class.NumberedClasses(), number) {
			return lacks("kernel class", number, class.Retired(number), class.NumberedClasses())
		}
	}
	return nil
}

// lacks returns the error for a number that this release does not have.
func lacks(subject, number, last string, have []string) error {
	name, _, _ := strings.Cut(number, "/")
	advice, has := "use a newer release", "no "+name
	for _, h := range have {
		if strings.HasPrefix(h, name+"/") {
			has = h
		}
	}
	if last != "" {
		advice = "use release " + last + ", the last one that has it"
	}
	return problem.New("", "", fmt.Sprintf("the recipe needs %s %s, and release %s has %s", subject, number,
		Release, has), advice)
}
