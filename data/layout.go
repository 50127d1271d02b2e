package data

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// layout states which files of a tree are samples, with their splits and classes.
type layout struct {
	splits  map[Split][]sampleFile // samples by split; if the data has no splits, the only key is ""
	multi   []string               // classes that do not exclude each other
	weighed bool                   // the samples have weights
	note    string                 // text about the folders of splits; "" if they have the names of the splits
}

// sampleFile is the file of a sample, with its class and more.
type sampleFile struct {
	member
	class  string
	rest   string  // path below the class folder
	mask   member  // mask of the sample, if the source has masks
	group  string  // group of the sample, if a table has a column of groups
	weight string  // weight of the sample, if a table has a column of weights
	line   int     // line in the table
	label  []int32 // labels from a table, unless they are exclusive classes
}

// layoutOf finds the splits and classes of members by their folders. Split folders may contain class folders,
// or class folders may contain split folders. Outer folders that contain everything, as in an archive of one
// folder, are ignored.
func layoutOf(members []member) (layout, error) {
	paths := splitPaths(members)
	top := commonFolders(paths, 3)
	splits, err := splitsOf(paths, top, true)
	if err != nil {
		return layout{}, err
	}
	if splits == nil && splitsInClasses(paths, top) {
		for _, p := range paths {
			p[top], p[top+1] = p[top+1], p[top]
		}
		if splits, err = splitsOf(paths, top, true); err != nil {
			return layout{}, err
		}
	}
	l := layout{splits: map[Split][]sampleFile{}, note: splitsInWords(splits)}
	for i, p := range paths {
		p, split := p[top:], Split("")
		if splits != nil {
			split, p = splits[p[0]], p[1:]
		}
		if len(p) < 2 {
			return layout{}, problem.Advise("a folder for each class, or csv:PATH for a table beside the pictures, "+
				"says what they are", "member %s lies in no class folder; want CLASS/NAME", members[i].name)
		}
		l.splits[split] = append(l.splits[split],
			sampleFile{member: members[i], class: names.Composed(p[0]), rest: strings.Join(p[1:], "/")})
	}
	for _, samples := range l.splits {
		slices.SortFunc(samples, func(a, b sampleFile) int {
			return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.rest, b.rest))
		})
	}
	return l, nil
}

// pick returns the samples of the split that s requests or, if it is missing, of the split that replaces it.
// It also returns the name of this split.
func (l layout) pick(s spec) ([]sampleFile, Split, error) {
	if whole, ok := l.splits[""]; ok {
		if s.explicit {
			return nil, "", problem.Advise("leave the suffix off",
				"@%s: there are no train/, val/ and test/ here", s.split)
		}
		return whole, "", nil
	}
	if len(l.splits) == 0 {
		return nil, "", fmt.Errorf("no pictures in it, no files that end with %s",
			strings.Join(images.Extensions, " "))
	}
	if err := l.noNewClasses(); err != nil {
		return nil, "", err
	}
	for _, split := range s.splits() {
		if samples, ok := l.splits[split]; ok {
			return samples, split, nil
		}
	}
	advice := fmt.Sprintf("ask for @%s, or add a folder %s/", l.anySplit(), s.split)
	return nil, "", problem.Advise(advice, "no folder %s in it", strings.Join(foldersOf(s.splits()), " or "))
}

// anySplit returns any split that exists, preferably one that is not for training.
func (l layout) anySplit() Split {
	for _, split := range []Split{Val, Test, Train} {
		if _, ok := l.splits[split]; ok {
			return split
		}
	}
	return ""
}

// classes returns the names of the classes by number: the classes of train or, without train, the ones of
// all splits. A split other than train may lack some of them.
func (l layout) classes() []string {
	all := l.splits[Train]
	if all == nil {
		for _, samples := range l.splits {
			all = append(all, samples...)
		}
	}
	var names []string
	for _, s := range all {
		names = append(names, s.class)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// noNewClasses returns an error if val or test has a class that train lacks.
func (l layout) noNewClasses() error {
	known := l.classes()
	for _, split := range []Split{Val, Test} {
		fresh := slices.DeleteFunc(classesOf(l.splits[split]), func(c string) bool {
			return slices.Contains(known, c)
		})
		if len(fresh) > 0 {
			return problem.Advise("add it there, or take it out",
				"%s/ has a class that train/ lacks: %s", split, names.First(fresh))
		}
	}
	return nil
}

// classesOf returns the classes of samples, in the order of the samples, which are sorted.
func classesOf(samples []sampleFile) []string {
	var names []string
	for _, s := range samples {
		if len(names) == 0 || names[len(names)-1] != s.class {
			names = append(names, s.class)
		}
	}
	return names
}
