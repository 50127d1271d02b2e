package data

import (
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/tables"
	"github.com/bnctl/bnctl/problem"
)

// splitOf returns the split with a folder's name; "" for another name.
func splitOf(name string) Split { return Split(tables.SplitNamed(name)) }

// splits returns the splits that may be used for the requested one, in order of preference. An explicit
// @val accepts only val. Otherwise validation uses the test split if there is no val.
func (s spec) splits() []Split {
	switch {
	case s.split == Test:
		return []Split{Test, Val}
	case s.split == Val && !s.explicit:
		return []Split{Val, Test}
	}
	return []Split{s.split}
}

// requested returns Test if test was requested and another split replaces it.
func (s spec) requested(split Split) Split {
	if s.split == Test && split == Val {
		return Test
	}
	return ""
}

// trainOrTest returns the split of data that is published as train and test: test replaces val unless
// val is requested explicitly.
func (s spec) trainOrTest() (Split, error) {
	switch {
	case s.split != Val:
		return s.split, nil
	case !s.explicit:
		return Test, nil
	}
	return "", problem.Advise("set some of its training samples apart with {val-split}",
		"@val: there are only train and test")
}

// splitsInWords lists the split of each folder; "" if all names are the same.
func splitsInWords(folders map[string]Split) string {
	var names, splits []string
	same := true
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		names, splits = append(names, name), append(splits, string(folders[name]))
		same = same && name == string(folders[name])
	}
	if same {
		return ""
	}
	return "folders " + strings.Join(names, ", ") + " are its parts " + strings.Join(splits, ", ")
}

// foldersOf returns splits as folder names.
func foldersOf(splits []Split) []string {
	var out []string
	for _, split := range splits {
		out = append(out, string(split)+"/")
	}
	return out
}

// splitPaths splits the names of members at their slashes.
func splitPaths(members []member) [][]string {
	paths := make([][]string, len(members))
	for i, m := range members {
		paths[i] = strings.Split(m.name, "/")
	}
	return paths
}

// commonFolders returns the number of leading folders that contain everything and are not
// splits. At least the given number of components of each name remain below them.
func commonFolders(paths [][]string, left int) int {
	for top := 0; len(paths) > 0; top++ {
		for _, p := range paths {
			if len(p) < top+left || p[top] != paths[0][top] || splitOf(p[top]) != "" {
				return top
			}
		}
	}
	return 0
}

// splitsOf returns the splits of the folders at depth top, by the folders' names. It returns nil if
// they are not splits. With classes, a folder that is named like a split but contains pictures directly
// is an ordinary class, because splits contain class folders. It refuses other folders next to splits,
// because they would be left out.
func splitsOf(paths [][]string, top int, classes bool) (map[string]Split, error) {
	splits, other, direct := map[string]Split{}, "", ""
	for _, p := range paths {
		split := splitOf(p[top])
		if len(p) == top+1 {
			other = p[top]
			continue
		}
		if split == "" {
			other = p[top] + "/"
			continue
		}
		splits[p[top]] = split
		if len(p) == top+2 {
			direct = p[top]
		}
	}
	switch {
	case len(splits) == 0, other != "" && classes && direct != "":
		return nil, nil
	case other != "":
		return nil, checkOtherFolders(splits, other)
	}
	return splits, checkDistinct(splits)
}

// splitsInClasses reports whether the folders at depth top are classes that contain only
// folders of splits.
func splitsInClasses(paths [][]string, top int) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p []string) bool {
		return len(p) < top+3 || splitOf(p[top+1]) == ""
	})
}

// checkOtherFolders refuses other folders next to the folders of splits.
func checkOtherFolders(splits map[string]Split, other string) error {
	names := slices.Sorted(maps.Keys(splits))
	return problem.Advise("move it into one of the parts, or out of the folder",
		"%s lies beside %s/, and belongs to no part of the data", other, strings.Join(names, "/ and "))
}

// checkDistinct refuses two folders for the same split.
func checkDistinct(splits map[string]Split) error {
	of := map[Split]string{}
	for _, name := range slices.Sorted(maps.Keys(splits)) {
		split := splits[name]
		if was, ok := of[split]; ok {
			return problem.Advise("leave one of them", "%s/ and %s/ are both the part %s", was, name, split)
		}
		of[split] = name
	}
	return nil
}

// drawn returns the split of data that is drawn on the fly, its default number of samples,
// and a number that separates its draws from the draws of other splits. Validation uses
// test unless the spec has @val.
func (s spec) drawn(train, test int) (split Split, n int, epoch uint32) {
	switch {
	case s.split == Val && s.explicit:
		return Val, test, 2
	case s.split == Train:
		return Train, train, 0
	}
	return Test, test, 1
}
