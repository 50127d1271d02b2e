// Package parts has the numbers of the parts of bnctl that a training's result depends on, besides
// the kernel class of its devices: decoders, augmentation, optimizers and so on.
//
// Use it to find out whether this release makes a template again. A recipe lists the parts that it
// uses, so that a change of one part affects only the recipes that use it.
//
// A number never changes its bits. If a change of a part changes a result by a bit, the part gets the
// next number in the table, an entry in retired, an ADR and a line in docs/promises.md.
// TestPartsKeepTheirBits fails if a part changes and its number stays.
package parts

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// numbers is the table of all parts of this release.
var numbers = map[string]int{
	// The pixels of picture files by format, equal to Pillow 9.4's. exif is the rotation by the orientation in
	// the file.
	"decode.jpeg": 1, "decode.png": 1, "decode.webp": 1, "decode.bmp": 1, "decode.tiff": 1, "decode.gif": 1,
	"decode.netpbm": 1, "exif": 1,
	// Samples that are drawn by the program.
	"data.glyphs": 1, "data.shapes": 1,
	// Pictures of another size, by filter.
	"resize.bilinear": 1, "resize.bicubic": 1,
	// Augmentations: the lists that have a name, and the operations.
	"augment.cifar": 1, "augment.imagenet": 1, "augment.segment": 1, "augment.resizedcrop": 1, "augment.crop": 1,
	"augment.flip": 1, "augment.rotate": 1, "augment.jitter": 1, "augment.randaugment": 1, "augment.trivial": 1,
	"augment.erase": 1, "augment.mixup": 1, "augment.cutmix": 1,
	// The order of samples in an epoch, without and with weights.
	"order": 1, "sampling": 1,
	// The initial weights: drawn, or read by the rules of a format.
	"init": 1, "import.onnx": 1, "import.pytorch": 1, "import.keras": 1, "import.tensorflow": 1,
	"import.caffe": 1, "import.safetensors": 1, "import.bnctl": 1,
	// Differentiation, and the sums over replicas.
	"gradient": 1, "sums": 1,
	"loss.classes": 1, "loss.binary": 1, "loss.squared": 1, "loss.absolute": 1, "loss.huber": 1,
	"loss.auxiliary":    1,
	"schedule.constant": 1, "schedule.cosine": 1, "schedule.poly": 1, "schedule.step": 1, "schedule.onecycle": 1,
	"schedule.plateau": 1, "schedule.warmup": 1,
	"optimizer.sgd": 1, "optimizer.adam": 1, "optimizer.adamw": 1, "optimizer.lars": 1, "optimizer.clip": 1,
	// Weights of replicas that are averaged, and gradients that come late.
	"sync.local": 1, "sync.async": 1,
	// Running statistics: how they are merged and when, and their estimation at the end.
	"statistics.sync": 1, "statistics.replica": 1, "statistics.async": 1, "statistics.posthoc": 1,
	"statistics.estimate": 1,
	"ema":                 1, "evaluation": 1, "quantise": 1,
}

// retired are the numbers that this release no longer has, with the last release that has them.
var retired = map[string]string{}

// Number returns a part with its number: "order/1". It returns "" for a part that does not exist.
func Number(name string) string {
	n, ok := numbers[name]
	if !ok {
		return ""
	}
	return name + "/" + strconv.Itoa(n)
}

// All returns all parts with their numbers, sorted.
func All() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		list = append(list, Number(name))
	}
	return list
}

// Has reports whether this release has a numbered part.
func Has(number string) bool {
	name, _, _ := strings.Cut(number, "/")
	return number != "" && Number(name) == number
}

// Retired returns the last release that has a numbered part. It returns "" if this release has the
// part, or if no release has had it.
func Retired(number string) string { return retired[number] }
