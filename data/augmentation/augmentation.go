// Package augmentation changes pictures at random in training: presets, and chains of operations that are
// written as text, such as "crop flip randaugment:2,9". Every change has the pixels of torchvision.
//
// Use Parse for a text of a recipe, and set data.Transform.Augment to the result: a data.Loader applies it.
package augmentation

import (
	"fmt"
	"slices"
	"strings"
)

// Augmentation is an augmentation, a random change of pictures in training: the name of a preset,
// or operations with spaces between them, as Parse returns them.
type Augmentation string

// No augmentation, and the presets.
const (
	None     Augmentation = ""
	CIFAR    Augmentation = "cifar"    // 4 black pixels around, crop to the original size, flip
	ImageNet Augmentation = "imagenet" // random resized crop, flip
	Segment  Augmentation = "segment"  // scale 0.5 to 2, crop with black pixels around, flip, colours
)

// Parse returns the augmentation with this name ("none" is None), or
// one made of operations, for example "crop flip randaugment:2,9", with all their
// arguments.
func Parse(text string) (Augmentation, error) {
	words := strings.Fields(text)
	presets := []string{"none", string(CIFAR), string(ImageNet), string(Segment)}
	for _, word := range words {
		if slices.Contains(presets, word) && len(words) > 1 {
			return "", fmt.Errorf("%s stands alone: it is no operation", word)
		}
	}
	if len(words) == 0 {
		return "", fmt.Errorf("no augmentation is named; there are none, cifar, imagenet and segment, or "+
			"operations with spaces between them: %s", strings.Join(operationNames(), ", "))
	}
	if name := words[0]; slices.Contains(presets, name) {
		return Augmentation(strings.TrimPrefix(name, "none")), nil
	}
	ops, err := parseOperations(strings.Join(words, " "))
	if err != nil {
		return "", err
	}
	texts := make([]string, len(ops))
	for i, op := range ops {
		texts[i] = op.String()
	}
	return Augmentation(strings.Join(texts, " ")), nil
}

// Moving returns the name of the first part of an augmentation that moves pixels; "" if none does.
func (a Augmentation) Moving() string {
	ops := a.operations()
	if len(ops) == 0 {
		return string(a)
	}
	at := slices.IndexFunc(ops, func(o operation) bool { return o.moves })
	if at < 0 {
		return ""
	}
	return ops[at].name
}

// InWords describes an augmentation for a report: "shifted and flipped".
func (a Augmentation) InWords() string {
	switch a {
	case CIFAR:
		return "shifted and flipped"
	case ImageNet:
		return "random parts, scaled and flipped"
	case Segment:
		return "scaled by 0.5 to 2, cut, flipped and coloured"
	}
	return string(a)
}
