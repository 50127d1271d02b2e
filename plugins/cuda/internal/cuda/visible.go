package cuda

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/plugins/cuda/internal/cu"
)

// isPart reports whether a UUID identifies a part of a GPU (MIG).
func isPart(uuid string) bool { return strings.HasPrefix(uuid, "MIG-") }

// visible returns the GPUs that CUDA_VISIBLE_DEVICES selects, in its order, as CUDA does:
// by index or by the beginning of a UUID, up to the first entry without a match. Parts of
// GPUs only have UUIDs. If the list is empty, reason explains why.
func visible(all []cu.GPU, lookup func(string) (string, bool)) (left []cu.GPU, reason string) {
	const variable = "CUDA_VISIBLE_DEVICES"
	list, set := lookup(variable)
	if !set {
		return all, ""
	}
	for entry := range strings.SplitSeq(list, ",") {
		g := find(all, strings.TrimSpace(entry))
		if g == nil {
			break
		}
		left = append(left, *g)
	}
	if len(left) == 0 {
		reason = fmt.Sprintf("%s=%q leaves none of %d GPUs", variable, list, len(all))
	}
	return left, reason
}

func find(all []cu.GPU, entry string) *cu.GPU {
	index, err := strconv.Atoi(entry)
	for i := range all {
		byName := (strings.HasPrefix(entry, "GPU-") || isPart(entry)) && strings.HasPrefix(all[i].UUID, entry)
		if byName || err == nil && all[i].Index == index && !isPart(all[i].UUID) {
			return &all[i]
		}
	}
	return nil
}
