// Package zoo describes the networks of the zoo in lines of text.
package zoo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/recipefile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// families has the heading for each family of networks in the list.
var families = map[string]string{
	"small":        "for digits and for trying things out",
	"cifar-resnet": "residual networks for CIFAR (He et al. 2015)",
	"resnet":       "residual networks for ImageNet (He et al. 2015), wider ones too",
	"mobilenet":    "inverted residuals, for phones",
	"efficientnet": "inverted residuals, scaled in width, depth and size (Tan and Le)",
	"regnet":       "residual networks by a rule for their widths (Radosavovic et al. 2020)",
	"densenet":     "each layer reads all before it (Huang et al. 2017)",
	"inception":    "branches of several kernels, auxiliary heads (Szegedy et al.)",
	"shufflenet":   "shuffled groups, for phones (Ma et al. 2018)",
	"squeezenet":   "few parameters, no batch norm (Iandola et al. 2016)",
	"vgg":          "plain convolutions of 3x3, with batch norm (Simonyan and Zisserman)",
	"convnext":     "depthwise 7x7 and layer norms, no batch norm (Liu et al. 2022)",
	"transformer":  "attention between patches, no batch norm",
	"segmentation": "a class for each pixel",
	"detection":    "boxes with classes",
}

// Head is the line above the list.
func Head() string {
	return fmt.Sprintf("  %-24s  %-9s  %7s  %10s  %8s  %5s", "name", "input", "classes", "parameters",
		"MFLOP", "lr")
}

// Line returns the line about a network, of at most 80 columns. If the network is the first of its family in
// the list, an empty line and a heading precede the line.
func Line(d models.Description, previous string) (lines []string) {
	if d.Family != previous {
		lines = append(lines, "", d.Family+": "+families[d.Family])
	}
	return append(lines, fmt.Sprintf("  %-24s  %-9s  %7d  %10d  %8.1f  %5g", d.Name, d.Input, d.Classes,
		d.Parameters, d.Flops/1e6, d.LR))
}

// Paper describes how the authors of a network trained it, in lines of at most 110 columns.
func Paper(d models.Description) []string {
	var lines []string
	if d.NormEps != 0 {
		lines = append(lines, fmt.Sprintf("batch norm: decay %g, eps %g", d.NormDecay, d.NormEps))
	}
	if d.Paper == nil {
		return lines
	}
	lines = append(lines, wrapped("published with: "+d.Paper.Said+" ("+d.Paper.Source+")")...)
	source := ""
	if d.Paper.From != "" {
		source = " (" + d.Paper.From + ")"
	}
	flags := "nearest flags" + source + ":"
	for _, name := range slices.Sorted(maps.Keys(d.Paper.Options)) {
		switch value := d.Paper.Options[name]; {
		case value == "true":
			flags += " --" + name
		case strings.Contains(value, " "):
			flags += " --" + name + " '" + value + "'"
		default:
			flags += " --" + name + " " + value
		}
	}
	return append(lines, wrapped(flags)...)
}

// wrapped breaks text into lines of at most 110 columns. All lines after the first are indented.
func wrapped(text string) (lines []string) {
	const width, indent = 110, "   "
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), indent+word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Layers returns a table of the nodes of a model.
func Layers(layers []models.Layer) (lines []string) {
	name, op, out := 5, 2, 6
	for _, l := range layers {
		name, op, out = max(name, len(l.Name)), max(op, len(l.Op)), max(out, len(l.Output))
	}
	lines = append(lines, fmt.Sprintf("%-*s  %-*s  %-*s  %10s  %9s", name, "layer", op, "op", out, "output",
		"parameters", "MFLOP"))
	for _, l := range layers {
		lines = append(lines, fmt.Sprintf("%-*s  %-*s  %-*s  %10d  %9.2f", name, l.Name, op, l.Op, out, l.Output,
			l.Parameters, l.Flops/1e6))
	}
	return lines
}

// Summary describes a model in a line.
func Summary(m *models.Model) string {
	s := m.Summary()
	fields := []string{m.Architecture, "input " + s.Input, problem.Plural(s.Parameters, "parameter"),
		fmt.Sprintf("%.1f MFLOP", s.Flops/1e6), problem.Plural(s.Norms, "batch norm")}
	if len(m.Labels) > 0 {
		fields = append(fields, "classes "+models.ClassList(m.Labels))
	}
	return strings.Join(fields, " · ")
}

// Recipe returns how the authors of a network trained it, as a recipe file.
func Recipe(d models.Description) (string, error) {
	if d.Paper == nil {
		return "", problem.New("recipe", "", "no recipe was published for "+d.Name,
			"train {print-recipe} prints the defaults of training")
	}
	f := recipefile.File{Recipe: maps.Clone(d.Paper.Options)}
	f.Recipe["model"] = d.Name
	return "# " + d.Paper.Source + ": " + d.Paper.Said + "\n" + f.Text(nil), nil
}
