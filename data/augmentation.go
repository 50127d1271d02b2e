package data

import (
	"fmt"
	"slices"
	"strings"
)

// Augment is an augmentation, a random change of pictures in training: the name of a preset,
// or operations with spaces between them, as ParseAugment returns them.
type Augment string

// No augmentation, and the presets.
const (
	NoAugment       Augment = ""
	CIFARAugment    Augment = "cifar"    // 4 black pixels around, crop to the original size, flip
	ImageNetAugment Augment = "imagenet" // random resized crop, flip
	SegmentAugment  Augment = "segment"  // scale 0.5 to 2, crop with black pixels around, flip, colours
)

// ParseAugment returns the augmentation with this name ("none" is NoAugment), or
// one made of operations, for example "crop flip randaugment:2,9", with all their
// arguments.
func ParseAugment(text string) (Augment, error) {
	words := strings.Fields(text)
	presets := []string{"none", string(CIFARAugment), string(ImageNetAugment), string(SegmentAugment)}
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
		return Augment(strings.TrimPrefix(name, "none")), nil
	}
	ops, err := parseOperations(strings.Join(words, " "))
	if err != nil {
		return "", err
	}
	texts := make([]string, len(ops))
	for i, op := range ops {
		texts[i] = op.String()
	}
	return Augment(strings.Join(texts, " ")), nil
}

// moving returns the name of the first part of an augmentation that moves pixels; "" if none does.
func (a Augment) moving() string {
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

// inWords describes an augmentation for a report: "shifted and flipped".
func (a Augment) inWords() string {
	switch a {
	case CIFARAugment:
		return "shifted and flipped"
	case ImageNetAugment:
		return "random parts, scaled and flipped"
	case SegmentAugment:
		return "scaled by 0.5 to 2, cut, flipped and coloured"
	}
	return string(a)
}
