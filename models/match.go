package models

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/problem"
)

// ClassMatch maps the classes of a data set to the classes of a model.
type ClassMatch struct {
	To      []int    // the class of the model for each class of the data
	Names   []string // names of the model's classes; from the data, or numbers, if the model has no names
	Missing []string // classes of the model that the data lacks, in the model's order
	// byOrder is true if the model has no names, and the data has the same number of
	// classes. The classes are matched in order, which may be wrong.
	byOrder bool
}

// String describes the match in a note, or returns "" if the match is exact.
func (k *ClassMatch) String() string {
	switch {
	case k.byOrder:
		return "the model has no names for its classes: they are taken for those of the data in their order, " +
			ClassList(k.Names) + "; {labels} says others"
	case len(k.Missing) > 0:
		return fmt.Sprintf("the data lacks %s of the model: %s", problem.Plural(len(k.Missing), "class"),
			firstNames(k.Missing))
	}
	return ""
}

// MatchClasses finds the classes of data among the count classes of a model, which may have
// labels. Classes with the same name match. Data with the classes 0, 1, 2 ... refers to the
// model's classes by number. Without labels the classes of data are the model's, in order,
// if their number is the same. Everything else is a *problem.Error: the match is never
// guessed.
func MatchClasses(labels []string, count int, kind string, classes []string) (ClassMatch, error) {
	k := ClassMatch{Names: labels, To: make([]int, len(classes))}
	unknown := ""
	for i, name := range classes {
		switch k.To[i] = slices.Index(labels, name); {
		case k.To[i] < 0 && unknown == "":
			unknown = name
		case k.To[i] >= 0 && slices.Contains(labels[k.To[i]+1:], name):
			return k, problem.Advise("give each class a name of its own by {labels}",
				"class %s of %s: two classes of the model are called so", name, kind)
		}
	}
	switch known := len(labels) > 0; {
	case unknown == "" && known || len(classes) == 0:
	case numbered(classes) && len(classes) <= count:
		k.byNumber(count)
	case known:
		return k, problem.Advise("evaluate on data with the model's classes, or say by {labels} what they are "+
			"called in the data", "the classes differ: the model has %s, %s has %s: %s is none of the model's",
			ClassList(labels), kind, ClassList(classes), unknown)
	case len(classes) == count:
		k.Names, k.byOrder = classes, true
		k.byNumber(count)
	default:
		return k, problem.New("labels", "", fmt.Sprintf("the model has no names for its %s, and %s has %s: which "+
			"is which is not known", problem.Plural(count, "class"), kind, ClassList(classes)),
			"say by {labels} what the model's classes are called, in their order")
	}
	for i, name := range k.Names {
		if !slices.Contains(k.To, i) {
			k.Missing = append(k.Missing, name)
		}
	}
	return k, nil
}

// byNumber maps each class to the class of the model with the same
// number.
func (k *ClassMatch) byNumber(count int) {
	for i := range k.To {
		k.To[i] = i
	}
	for i := len(k.Names); i < count; i++ {
		k.Names = append(slices.Clip(k.Names), strconv.Itoa(i))
	}
}

// numbered reports whether the names of classes are 0, 1, 2 ...
func numbered(classes []string) bool {
	for i, name := range classes {
		if name != strconv.Itoa(i) {
			return false
		}
	}
	return true
}

// MatchClasses is like the function MatchClasses, for the classes of m's first output or of its
// boxes.
func (m *Model) MatchClasses(kind string, classes []string) (ClassMatch, error) {
	count := m.Classes()
	if m.BoxLayout() != NoLayout {
		count = m.BoxClasses(len(classes))
	}
	if a, _ := m.Answer(0); a == Binary {
		count = 2
	}
	return MatchClasses(m.Labels, count, kind, classes)
}
