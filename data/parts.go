package data

import (
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// partNames are the names that folders and lists of a part have, in any case.
var partNames = map[string]Split{
	"train": Train, "training": Train, "val": Val, "valid": Val, "validation": Val,
	"test": Test, "testing": Test,
}

// partOf returns the part that a folder of that name is; "" for another name.
func partOf(name string) Split { return partNames[strings.ToLower(name)] }

// parts returns the parts that may stand for the one that s asks for, the best
// first. @val is nothing else, since it says so; without it validation takes
// the test part where there is no other.
func (s spec) parts() []Split {
	switch {
	case s.split == Test:
		return []Split{Test, Val}
	case s.split == Val && !s.explicit:
		return []Split{Val, Test}
	}
	return []Split{s.split}
}

// instead returns test if that was asked for and another part stands in for it.
func (s spec) instead(part Split) Split {
	if s.split == Test && part == Val {
		return Test
	}
	return ""
}

// trainOrTest returns the part of data that is published in two: test stands for
// val where nobody has asked for that alone.
func (s spec) trainOrTest() (Split, error) {
	switch {
	case s.split != Val:
		return s.split, nil
	case !s.explicit:
		return Test, nil
	}
	return "", problem.Advise("split some of its training samples off, into a folder or arrays of their own",
		"@val: there are only train and test")
}

// foldersOf writes parts as folders.
func foldersOf(parts []Split) []string {
	var out []string
	for _, part := range parts {
		out = append(out, string(part)+"/")
	}
	return out
}

// split takes the names of members apart at their slashes.
func split(members []member) [][]string {
	paths := make([][]string, len(members))
	for i, m := range members {
		paths[i] = strings.Split(m.name, "/")
	}
	return paths
}

// commonFolders returns how many leading folders hold everything and are no
// parts; names of at least as many components are left below them.
func commonFolders(paths [][]string, left int) int {
	for top := 0; len(paths) > 0; top++ {
		for _, p := range paths {
			if len(p) < top+left || p[top] != paths[0][top] || partOf(p[top]) != "" {
				return top
			}
		}
	}
	return 0
}

// partsOf returns the parts that the folders at depth top are, by their names;
// nil if they are none. With classes, a folder that is called like a part and
// holds pictures itself is a class among others: parts hold class folders. A
// mixture is refused: what lies beside the parts would be left out.
func partsOf(paths [][]string, top int, classes bool) (map[string]Split, error) {
	parts, other, direct := map[string]Split{}, "", ""
	for _, p := range paths {
		part := partOf(p[top])
		if len(p) == top+1 {
			other = p[top]
			continue
		}
		if part == "" {
			other = p[top] + "/"
			continue
		}
		parts[p[top]] = part
		if len(p) == top+2 {
			direct = p[top]
		}
	}
	switch {
	case len(parts) == 0, other != "" && classes && direct != "":
		return nil, nil
	case other != "":
		return nil, besideParts(parts, other)
	}
	return parts, oneEach(parts)
}

// besideParts refuses what lies beside parts and belongs to none.
func besideParts(parts map[string]Split, other string) error {
	names := slices.Sorted(maps.Keys(parts))
	return problem.Advise("move it into one of the parts, or out of the folder",
		"%s lies beside %s/, and belongs to no part of the data", other, strings.Join(names, "/ and "))
}

// oneEach refuses two folders of one part.
func oneEach(parts map[string]Split) error {
	of := map[Split]string{}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part := parts[name]
		if was, ok := of[part]; ok {
			return problem.Advise("leave one of them", "%s/ and %s/ are both the part %s", was, name, part)
		}
		of[part] = name
	}
	return nil
}

// drawn returns the part of data that is drawn on the fly, how many samples it
// has if the spec does not say, and what keeps its draws apart from those of other
// parts. Validation takes test unless @val asks for a part of its own.
func (s spec) drawn(train, test int) (part Split, n int, epoch uint32) {
	switch {
	case s.split == Val && s.explicit:
		return Val, test, 2
	case s.split == Train:
		return Train, train, 0
	}
	return Test, test, 1
}
