package timm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mobile gives torchvision's names for the parts of a network of inverted residuals. timm
// uses the same names for all families: conv_stem, blocks.STAGE.BLOCK and conv_head.
type mobile struct {
	family string
	others map[string]string // layers outside of blocks
	// block returns the prefix of the names of a block. k is the number of the block in its
	// stage, and all is its number in the network.
	block func(stage, k, all int) string
	// unit returns the names of convolution i of a block and of its batch norm, which follow
	// the prefix of the block. The argument last is true for the last convolution of the block.
	unit func(i int, last bool) (conv, norm string)
}

var mobiles = []*mobile{
	{"mobilenetv2", map[string]string{"conv_stem": "features.0.0", "bn1": "features.0.1",
		"conv_head": "features.18.0", "bn2": "features.18.1", "classifier": "classifier.1"},
		func(_, _, all int) string { return fmt.Sprintf("features.%d.conv.", all+1) },
		func(i int, last bool) (string, string) {
			if last {
				return fmt.Sprint(i), fmt.Sprint(i + 1)
			}
			return pair(i)
		}},
	{"mobilenetv3-", map[string]string{"conv_stem": "features.0.0", "bn1": "features.0.1",
		"conv_head": "classifier.0", "classifier": "classifier.3"},
		func(_, _, all int) string { return fmt.Sprintf("features.%d.block.", all+1) },
		func(i int, _ bool) (string, string) { return pair(i) }},
	{"mnasnet", map[string]string{"conv_stem": "layers.0", "bn1": "layers.1", "conv_head": "layers.14",
		"bn2": "layers.15", "classifier": "classifier.1"},
		func(stage, k, _ int) string {
			if stage == 0 {
				return "layers."
			}
			return fmt.Sprintf("layers.%d.%d.layers.", 7+stage, k)
		},
		func(i int, _ bool) (string, string) { return fmt.Sprint(3 * i), fmt.Sprint(3*i + 1) }},
	{"efficientnet-", map[string]string{"conv_stem": "features.0.0", "bn1": "features.0.1",
		"conv_head": "features.%d.0", "bn2": "features.%d.1", "classifier": "classifier.1"},
		func(stage, k, _ int) string { return fmt.Sprintf("features.%d.%d.block.", stage+1, k) },
		func(i int, _ bool) (string, string) { return pair(i) }},
}

func pair(i int) (string, string) { return fmt.Sprintf("%d.0", i), fmt.Sprintf("%d.1", i) }

func mobileOf(architecture string) *mobile {
	i := slices.IndexFunc(mobiles, func(m *mobile) bool { return strings.HasPrefix(architecture, m.family) })
	if i < 0 {
		return nil
	}
	return mobiles[i]
}

// kinds are the sequences of convolutions and batch norms in a block, with "se" for an
// optional squeeze-and-excite. A block has the first kind in this list with the same first
// and last convolution.
var kinds = [][]string{
	{"conv_pw bn1", "conv_dw bn2", "se", "conv_pwl bn3"}, // inverted residual
	{"conv_exp bn1", "se", "conv_pwl bn2"},               // fused
	{"conv_dw bn1", "se", "conv_pw bn2"},                 // depthwise separable
	{"conv bn1"},
}

// names returns torchvision's names for the given names. It returns nil if these are not
// timm's names.
func (m *mobile) names(theirs []string) []string {
	if !slices.Contains(theirs, "conv_stem.weight") {
		return nil
	}
	blocks := m.blocks(theirs)
	stages := 0
	for at := range blocks {
		stages = max(stages, at[0]+1)
	}
	out := make([]string, len(theirs))
	for i, name := range theirs {
		out[i] = name
		if at, rest, ok := blockOf(name); ok {
			layer, leaf := cut(rest)
			if to := blocks[at][layer]; to != "" {
				out[i] = to + leaf
			}
			continue
		}
		layer, leaf := cut(name)
		if to := m.others[layer]; strings.Contains(to, "%d") {
			out[i] = fmt.Sprintf(to, stages+1) + leaf
		} else if to != "" {
			out[i] = to + leaf
		}
	}
	return out
}

// cut splits off the last part of a name: ".weight".
func cut(name string) (layer, leaf string) {
	i := max(strings.LastIndexByte(name, '.'), 0)
	return name[:i], name[i:]
}

// blockOf splits a name of the form blocks.STAGE.BLOCK.REST.
func blockOf(name string) (block [2]int, suffix string, ok bool) {
	_, err := fmt.Sscanf(name, "blocks.%d.%d.%s", &block[0], &block[1], &suffix)
	return block, suffix, err == nil
}

// blocks returns the names of the layers of each block, by stage and number.
func (m *mobile) blocks(theirs []string) map[[2]int]map[string]string {
	layers := map[[2]int]map[string]string{}
	for _, name := range theirs {
		if at, rest, ok := blockOf(name); ok {
			if layers[at] == nil {
				layers[at] = map[string]string{}
			}
			layer, _ := cut(rest)
			layers[at][layer] = ""
		}
	}
	order := make([][2]int, 0, len(layers))
	for at := range layers {
		order = append(order, at)
	}
	slices.SortFunc(order, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	for all, at := range order {
		m.nameBlock(m.block(at[0], at[1], all), at[0], layers[at])
	}
	return layers
}

// nameBlock adds the names of the parts of a block to layers.
func (m *mobile) nameBlock(prefix string, stage int, layers map[string]string) {
	for _, kind := range kinds {
		first, _, _ := strings.Cut(kind[0], " ")
		end, _, _ := strings.Cut(kind[len(kind)-1], " ")
		if _, ok := layers[first]; !ok {
			continue
		} else if _, ok = layers[end]; !ok {
			continue
		}
		i := 0
		if m.family == "mnasnet" && stage == 0 {
			i = 1 // after the stem
		}
		if m.family == "mobilenetv3-" && len(kind) == 1 {
			prefix = strings.TrimSuffix(prefix, "block.") // the last layer, which is not a block
			layers["conv"], layers["bn1"] = prefix+"0", prefix+"1"
			return
		}
		for k, unit := range kind {
			conv, norm, _ := strings.Cut(unit, " ")
			if _, ok := layers["se.conv_reduce"]; conv == "se" {
				if ok {
					layers["se.conv_reduce"] = fmt.Sprintf("%s%d.fc1", prefix, i)
					layers["se.conv_expand"] = fmt.Sprintf("%s%d.fc2", prefix, i)
					i++
				}
				continue
			}
			c, n := m.unit(i, k == len(kind)-1)
			layers[conv], layers[norm] = prefix+c, prefix+n
			i++
		}
		return
	}
}
