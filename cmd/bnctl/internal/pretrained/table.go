// Package pretrained lists weights that others have published for networks of the zoo, with their sources,
// accuracy and preprocessing.
package pretrained

import (
	"bytes"
	"compress/gzip"
	_ "embed" // embeds the table
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/problem"
)

// table is made by scripts/pretrained.py from torchvision's metadata.
//
//go:embed torchvision.tsv
var table string

//go:embed imagenet.txt.gz
var imageNet []byte

// Weights describes a published file of weights.
type Weights struct {
	Network string `json:"network"` // name of the network in the zoo
	Source  string `json:"source"`  // value of --init that names the weights
	URL     string `json:"url"`
	// Default is true for the weights that a source without the part /WEIGHTS means.
	Default bool    `json:"default"`
	Top1    float64 `json:"top1,omitempty"` // in per cent, on ImageNet's validation set, as published
	MIoU    float64 `json:"miou,omitempty"` // in per cent, on COCO's validation set with VOC's classes
	// Bytes is the size of the network's parameters as float32. The file is a little larger.
	Bytes   int64  `json:"bytes,omitempty"`
	Licence string `json:"licence,omitempty"`
	// Sum is the SHA-256 of the file in hexadecimal, or its first digits.
	Sum string `json:"sha256_prefix"`

	name, weights string
	resize        int
	interpolation string
	classes       int
}

// licence is the licence of torchvision, which also applies to the weights that it distributes. Terms of the
// training data may apply as well.
const licence = "BSD-3-Clause"

// sumInName matches the digits of the SHA-256 in the name of a file of torchvision.
var sumInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-([0-9a-f]{8,64})\.pth$`) })

// All returns the weights for networks of the zoo, in the zoo's order.
func All() []Weights { return weights() }

var weights = sync.OnceValue(func() (list []Weights) {
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) < 12 {
			continue
		}
		w := Weights{Network: f[0], Source: "torchvision:" + f[1], URL: base + f[3], Licence: licence,
			Default: f[11] == "*", name: f[1], weights: f[2], interpolation: f[9],
			Sum: sumInName().FindStringSubmatch(f[3])[1]}
		if !w.Default {
			w.Source += "/" + w.weights
		}
		w.Top1, _ = strconv.ParseFloat(f[4], 64)
		w.MIoU, _ = strconv.ParseFloat(f[5], 64)
		w.resize, _ = strconv.Atoi(f[7])
		w.classes, _ = strconv.Atoi(f[10])
		list = append(list, w)
	}
	return list
})

// base is the URL of the folder of torchvision's files.
const base = "https://download.pytorch.org/models/"

// Scheme is the scheme of the names of torchvision's weights.
const Scheme = "torchvision"

// Find returns the weights with a name of the form NAME or NAME/WEIGHTS, for example resnet50/IMAGENET1K_V1.
// NAME is the name of the network in torchvision or in the zoo.
func Find(text string) (*Weights, error) {
	name, version, _ := strings.Cut(text, "/")
	var known, versions []string
	for _, w := range weights() {
		if w.name != name && w.Network != name {
			known = append(known, w.name)
			continue
		}
		if versions = append(versions, w.weights); version == w.weights || version == "" && w.Default {
			return &w, nil
		}
	}
	if versions != nil {
		return nil, &problem.Error{Field: "init", Value: strconv.Quote(Scheme + ":" + text), Known: versions,
			Text: "the weights of " + name + " are " + strings.Join(versions, ", ")}
	}
	return nil, &problem.Error{Field: "init", Value: strconv.Quote(Scheme + ":" + text), Known: known,
		Text:   "there are no weights of that name for a network of the zoo",
		Advice: "{models-list-pretrained} lists them"}
}

// Resolve returns a function that returns the file of the weights with a name. The environment variable
// TORCHVISION_ENDPOINT may name another server than torchvision's.
func Resolve(getenv func(string) string) func(name string) (store.Source, error) {
	return func(name string) (store.Source, error) {
		w, err := Find(name)
		if err != nil {
			return store.Source{}, err
		}
		url := w.URL
		if other := getenv("TORCHVISION_ENDPOINT"); other != "" {
			url = strings.TrimRight(other, "/") + "/models/" + strings.TrimPrefix(w.URL, base)
		}
		return store.Source{URL: url, Sum: w.Sum}, nil
	}
}

const imageNetClasses = 1000

// Labels returns the names of the classes of the weights, or nil if they are not known.
func (w *Weights) Labels() []string {
	if w.classes != imageNetClasses {
		return nil
	}
	return imageNetLabels()
}

// imageNetLabels returns the names of ImageNet's classes. If two classes have the same name, the number of
// the class is added.
var imageNetLabels = sync.OnceValue(func() []string {
	z, err := gzip.NewReader(bytes.NewReader(imageNet))
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	labels := strings.Split(strings.TrimSpace(string(text)), "\n")
	seen := map[string]bool{}
	for i, name := range labels {
		if seen[name] {
			labels[i] += " (" + strconv.Itoa(i) + ")"
		}
		seen[name] = true
	}
	return labels
})
