package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/tensor"
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

// Fits returns an error if an augmentation cannot be used with the labels of a source:
// pixels must not move away from their labels.
func (a Augment) Fits(info Info) error {
	if err := a.mixes(info); err != nil {
		return err
	}
	if info.Boxes {
		return a.fitsBoxes()
	}
	if a == NoAugment || info.Masks || len(info.LabelShape) < 2 {
		return nil
	}
	name := string(a)
	if ops := a.operations(); len(ops) > 0 {
		at := slices.IndexFunc(ops, func(o operation) bool { return o.moves })
		if at < 0 {
			return nil
		}
		name = ops[at].name
	}
	return fmt.Errorf("augmentation %s moves pixels, and labels of %s stay where they are; masks move along",
		name, tensor.Describe(tensor.I32, info.LabelShape))
}
