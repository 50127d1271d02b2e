package class_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/models"
)

var update = flag.Bool("update", false, "write testdata/zoo.golden from what Choose returns")

// settings are the classes and precisions for which Choose may select different algorithms.
var settings = []struct{ class, precision string }{
	{class.FMA, device.F32}, {class.FMA, device.BF16}, {class.AMX, device.F32}, {class.AMX, device.BF16},
	{class.Generic, device.F32},
}

// algorithms returns the algorithms that Choose returns for a layer: one line for each product.
func algorithms(l class.Layer) string {
	var b strings.Builder
	for p, name := range []string{"forward", "backward", "weights"} {
		l.Product = class.Product(p)
		fmt.Fprintf(&b, "    %-8s", name)
		for _, s := range settings {
			fmt.Fprintf(&b, " | %-20v", class.Choose(l, s.precision, s.class))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shape describes a layer.
func shape(l class.Layer) string {
	if l.Dense {
		return fmt.Sprintf("dense %d to %d", l.C, l.O)
	}
	return fmt.Sprintf("%dx%d %d to %d, kernel %v, stride %v, pad %v, groups %d", l.H, l.W, l.C, l.O, l.Kernel,
		l.Stride, l.Pad, l.Groups)
}

// zoo lists the layers of all models. Each shape is listed once, with the first model that has it.
func zoo(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# What Choose returns for every layer of the models of models/zoo.go.\n")
	b.WriteString("# Written by go test ./device/class -update. A change of a line is a change of bits.\n")
	b.WriteString("# Columns:")
	for _, s := range settings {
		fmt.Fprintf(&b, " | %s %s", s.class, s.precision)
	}
	b.WriteString("\n")
	known := map[class.Layer]bool{}
	scaled := regexp.MustCompile(`^(efficientnet-b[1-4]|efficientnet-v2-s|regnet-y-(8|1|3).*|.*101.*-.*|wide-.*)$`)
	for _, a := range models.Architectures() {
		if scaled.MatchString(a.Name) {
			continue // differs from a smaller model only in channels
		}
		m, err := models.Build(a.Name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n%s\n", a.Name)
		names, order := map[class.Layer][]string{}, []class.Layer{}
		for i := range m.Graph.Main.Nodes {
			n := &m.Graph.Main.Nodes[i]
			if l, ok := class.LayerOf(m.Graph.Main, n); ok && !known[l] {
				if names[l] == nil {
					order = append(order, l)
				}
				names[l] = append(names[l], m.Graph.Main.NodeName(n))
			}
		}
		for _, l := range order {
			known[l] = true
			fmt.Fprintf(&b, "  %s: %s\n%s", shape(l), strings.Join(names[l], " "), algorithms(l))
		}
	}
	return b.String()
}

// TestChooseOfTheZoo compares the algorithms of all models with a golden file. They are part of
// the promise of equal bits.
func TestChooseOfTheZoo(t *testing.T) {
	const file = "testdata/zoo.golden"
	got := zoo(t)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d differs from %s:\n%s", i+1, file, strings.Join(g[i:min(i+3, len(g))], "\n"))
		}
	}
}
