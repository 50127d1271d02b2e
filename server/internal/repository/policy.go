package repository

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Policy selects versions of a model. The zero value selects the highest.
type Policy struct {
	latest   int // number of highest versions; 0: 1
	every    bool
	versions []int // only these versions; nil: any
}

// ParsePolicy returns the policy for the text "latest:N", "all", or a list of versions like "1,3". "" means
// "latest:1".
func ParsePolicy(text string) (Policy, error) {
	if text == "" || text == "all" {
		return Policy{every: text == "all"}, nil
	}
	wrong := fmt.Errorf("%q: want latest:N, all, or versions, 1,3", text)
	if n, ok := strings.CutPrefix(text, "latest:"); ok {
		k := version(n)
		if k == 0 {
			return Policy{}, wrong
		}
		return Policy{latest: k}, nil
	}
	var p Policy
	for v := range strings.SplitSeq(text, ",") {
		k := version(v)
		if k == 0 {
			return Policy{}, wrong
		}
		p.versions = append(p.versions, k)
	}
	return p, nil
}

// take returns those files of one model that p selects, the highest version first.
func (p Policy) take(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return b.Version - a.Version })
	switch {
	case p.every:
		return files
	case p.versions != nil:
		return slices.DeleteFunc(files, func(f File) bool { return !slices.Contains(p.versions, f.Version) })
	}
	return files[:min(max(p.latest, 1), len(files))]
}

// version parses a version: a positive whole number without leading zeros. It returns 0 for
// other text.
func version(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || strconv.Itoa(n) != text {
		return 0
	}
	return n
}
