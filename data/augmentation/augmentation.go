// Package augmentation changes pictures at random in training. An Augmentation is a preset, or a chain of
// operations that is written as text, like "crop flip randaugment:2,9". Every operation gives the same
// pixels as torchvision.
//
// Use Parse for a text of a recipe, and set data.Transform.Augment to the result. A data.Loader then applies
// it.
package augmentation

import (
	"fmt"
	"slices"
	"strings"
)

// Augmentation is a random change of pictures in training: a preset, or a list of operations. The zero
// value changes nothing.
type Augmentation struct {
	preset string      // "" for a list of operations
	ops    []operation // operations of a list
}

// Names of presets.
const (
	cifar    = "cifar"    // adds 4 black pixels around, crops to the original size, flips
	imageNet = "imagenet" // random resized crop, flip
	segment  = "segment"  // scales by 0.5 to 2, crops with black pixels around, flips, changes colours
)

// CIFAR returns the preset for small pictures. It adds 4 black pixels around the picture, crops it to the
// original size, and flips it.
func CIFAR() Augmentation { return Augmentation{preset: cifar} }

// ImageNet returns the preset for photos: random resized crop and flip.
func ImageNet() Augmentation { return Augmentation{preset: imageNet} }

// Segment returns the preset for pictures with masks. It scales them by 0.5 to 2, crops them with black
// pixels around, flips them and changes their colours.
func Segment() Augmentation { return Augmentation{preset: segment} }

// Parse returns the augmentation for a text: the name of a preset, "none" for the zero value, or a list
// of operations such as "crop flip randaugment:2,9".
func Parse(text string) (Augmentation, error) {
	words := strings.Fields(text)
	presets := []string{"none", cifar, imageNet, segment}
	for _, word := range words {
		if slices.Contains(presets, word) && len(words) > 1 {
			return Augmentation{}, fmt.Errorf("%s stands alone: it is no operation", word)
		}
	}
	if len(words) == 0 {
		return Augmentation{}, fmt.Errorf("no augmentation is named; there are none, cifar, imagenet and segment, "+
			"or operations with spaces between them: %s", strings.Join(operationNames(), ", "))
	}
	if name := words[0]; slices.Contains(presets, name) {
		return Augmentation{preset: strings.TrimPrefix(name, "none")}, nil
	}
	ops, err := parseOperations(strings.Join(words, " "))
	if err != nil {
		return Augmentation{}, err
	}
	return Augmentation{ops: ops}, nil
}

// MustParse is Parse for a text that is part of the program. It panics on an error.
func MustParse(text string) Augmentation {
	a, err := Parse(text)
	if err != nil {
		panic("augmentation: " + err.Error())
	}
	return a
}

// IsNone reports whether a changes nothing.
func (a Augmentation) IsNone() bool { return a.preset == "" && len(a.ops) == 0 }

// String returns the text of a in the form that Parse reads, with all arguments of operations.
func (a Augmentation) String() string {
	switch {
	case a.IsNone():
		return "none"
	case a.preset != "":
		return a.preset
	}
	texts := make([]string, len(a.ops))
	for i, op := range a.ops {
		texts[i] = op.String()
	}
	return strings.Join(texts, " ")
}

// MarshalText returns the text of a, as String does.
func (a Augmentation) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText sets a to the augmentation that Parse returns for text.
func (a *Augmentation) UnmarshalText(text []byte) (err error) {
	*a, err = Parse(string(text))
	return err
}

// Moving returns the name of the first part of an augmentation that moves pixels, or "" without any
// part.
func (a Augmentation) Moving() string {
	if len(a.ops) == 0 {
		return a.preset
	}
	at := slices.IndexFunc(a.ops, func(o operation) bool { return o.moves })
	if at < 0 {
		return ""
	}
	return a.ops[at].name
}

// InWords describes an augmentation for a report: "shifted and flipped".
func (a Augmentation) InWords() string {
	switch a.preset {
	case cifar:
		return "shifted and flipped"
	case imageNet:
		return "random parts, scaled and flipped"
	case segment:
		return "scaled by 0.5 to 2, cut, flipped and coloured"
	}
	if a.IsNone() {
		return ""
	}
	return a.String()
}
