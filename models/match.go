package models

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/problem"
)

// ClassMatch says which class of a model each class of a data set is.
type ClassMatch struct {
	To      []int    // the model's class, by class of the data
	Names   []string // of the model's classes; those of the data, or numbers, where it has none
	Missing []string // classes of the model that are none of the data's, in the model's order
	// byOrder: the model has no names, and as many classes as the data: they are taken
	// in order, which may be wrong.
	byOrder bool
}

// String says what MatchClasses has taken for what, for a note; "" if there is
// nothing to say.
func (k *ClassMatch) String() string {
	switch {
	case k.byOrder:
		return "the model has no names for its classes: they are taken for those of the data in their order, " +
			ClassList(k.Names) + "; {labels} says others"
	case len(k.Missing) > 0:
		return fmt.Sprintf("the data lacks %s of the model: %s", problem.Plural(len(k.Missing), "class"),
			some(k.Missing))
	}
	return ""
}

// MatchClasses finds the classes of data among a model's, of which there are count,
// with those labels or without any. Classes are the same if their names are. Data
// whose classes are 0, 1, 2 ... speaks of the model's classes by number. Without
// labels the classes of data are the model's, in order, if there are as many. All
// else is a *problem.Error: which class is which is never guessed.
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

// byNumber makes each class the model's of the same number.
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

// MatchClasses is the function of that name for the classes of m's first output.
func (m *Model) MatchClasses(kind string, classes []string) (ClassMatch, error) {
	count := 0
	if shape := m.outputType(0).Shape; len(shape) > 0 {
		count = shape[0]
	}
	if a, _ := m.Answer(0); a == Binary {
		count = 2
	}
	return MatchClasses(m.Labels, count, kind, classes)
}
