package data

import (
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/tables"
	"github.com/bnctl/bnctl/problem"
)

// splitOf returns the split that the name of a folder represents, or "" for other names.
func splitOf(name string) Split { return Split(tables.SplitNamed(name)) }

// splits returns the splits that may be used for the requested one, in order of preference. If the spec has
// the suffix @val, only val may be used. Otherwise test replaces val where val is missing.
func (s spec) splits() []Split {
	switch {
	case s.split == Test:
		return []Split{Test, Val}
	case s.split == Val && !s.explicit:
		return []Split{Val, Test}
	}
	return []Split{s.split}
}

// requested returns Test if test was requested and split, which replaces it, is another one. Otherwise it
// returns "".
func (s spec) requested(split Split) Split {
	if s.split == Test && split == Val {
		return Test
	}
	return ""
}

// trainOrTest returns the split to open in data that is published with the splits train and test. Test
// replaces val, unless the spec has the suffix @val.
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

// splitsInWords returns text that lists the split of each folder, or "" if all folders have the names of
// their splits.
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

// foldersOf returns the names of folders for splits: "train/".
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

// commonFolders returns the number of leading folders that all paths have in common and that are not splits.
// Below them, at least the given number of components of each path must remain.
func commonFolders(paths [][]string, remaining int) int {
	for top := 0; len(paths) > 0; top++ {
		for _, p := range paths {
			if len(p) < top+remaining || p[top] != paths[0][top] || splitOf(p[top]) != "" {
				return top
			}
		}
	}
	return 0
}

// splitsOf returns the splits of the folders at depth top, by the names of the folders. It returns nil if
// these folders are not splits. If classes is set, split folders must contain class folders; so a folder with
// the name of a split that contains pictures directly is an ordinary class. It is an error if there are other
// folders next to splits, because they would be left out.
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

// splitsInClasses reports whether the folders at depth top are classes that contain nothing but folders of
// splits.
func splitsInClasses(paths [][]string, top int) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p []string) bool {
		return len(p) < top+3 || splitOf(p[top+1]) == ""
	})
}

// checkOtherFolders returns an error if a folder other is next to folders of splits.
func checkOtherFolders(splits map[string]Split, other string) error {
	names := slices.Sorted(maps.Keys(splits))
	return problem.Advise("move it into one of the parts, or out of the folder",
		"%s lies beside %s/, and belongs to no part of the data", other, strings.Join(names, "/ and "))
}

// checkDistinct returns an error if two folders represent the same split.
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

// drawn returns the split of data that is drawn on the fly, the number of its samples if the spec has none,
// and a number that makes its draws different from other splits. If val is requested, test replaces
// it, unless the spec has the suffix @val.
func (s spec) drawn(train, test int) (split Split, n int, epoch uint32) {
	switch {
	case s.split == Val && s.explicit:
		return Val, test, 2
	case s.split == Train:
		return Train, train, 0
	}
	return Test, test, 1
}
