package data

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// layout is what a tree of class folders means.
type layout struct {
	parts map[string][]classed // by name of the part: "train", "test", "val"; "" if there are none
}

// classed is a member with the class folder it lies in.
type classed struct {
	member
	class string
	rest  string // name below the class folder
	mask  member // of a source of masks
}

// evalParts are the folder names that count as the test split, best first.
var evalParts = []string{"test", "val", "valid", "validation"}

func isPart(name string) bool { return name == "train" || slices.Contains(evalParts, name) }

// layoutOf sorts members into parts and classes. Folders that everything lies
// in (as in an archive of one folder) don't count.
func layoutOf(members []member) (layout, error) {
	paths := make([][]string, len(members))
	for i, m := range members {
		paths[i] = strings.Split(m.name, "/")
	}
	top := commonFolders(paths)
	hasParts := slices.ContainsFunc(paths, func(p []string) bool { return len(p) > top+1 && isPart(p[top]) })
	l := layout{parts: map[string][]classed{}}
	for i, p := range paths {
		p, part := p[top:], ""
		if hasParts {
			if !isPart(p[0]) {
				continue // beside train/ and test/
			}
			part, p = p[0], p[1:]
		}
		if len(p) < 2 {
			return layout{}, fmt.Errorf("member %s lies in no class folder; want CLASS/NAME", members[i].name)
		}
		l.parts[part] = append(l.parts[part],
			classed{member: members[i], class: p[0], rest: strings.Join(p[1:], "/")})
	}
	for _, samples := range l.parts {
		slices.SortFunc(samples, func(a, b classed) int {
			return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.rest, b.rest))
		})
	}
	return l, nil
}

// commonFolders returns how many leading folders hold everything and are
// neither parts nor classes.
func commonFolders(paths [][]string) int {
	for top := 0; ; top++ {
		for _, p := range paths {
			if len(p) < top+3 || p[top] != paths[0][top] || isPart(p[top]) {
				return top
			}
		}
		if len(paths) == 0 {
			return 0
		}
	}
}

// pick returns the samples of the split that s asks for, and the name of the
// part they come from.
func (l layout) pick(s spec) ([]classed, Split, error) {
	if whole, ok := l.parts[""]; ok {
		if s.explicit {
			return nil, "", problem.Advise("leave the suffix off",
				"@%s: there are no train/ and test/ here", s.split)
		}
		return whole, "", nil
	}
	if len(l.parts) == 0 {
		return nil, "", fmt.Errorf("no pictures in it, no files that end with %s",
			strings.Join(pictureEndings, " "))
	}
	eval := l.evalPart()
	if err := l.sameClasses("train", eval); err != nil {
		return nil, "", err
	}
	part := "train"
	if s.split == Test {
		part = eval
	}
	if samples, ok := l.parts[part]; ok {
		return samples, s.split, nil
	}
	if s.split == Test {
		return nil, "", problem.Advise("add one or ask for @train", "no folder test/ or val/ in it")
	}
	return nil, "", problem.Advise("ask for @test", "no folder train/ in it")
}

// evalPart returns the folder name that is the test split here; "" if none.
func (l layout) evalPart() string {
	for _, name := range evalParts {
		if _, ok := l.parts[name]; ok {
			return name
		}
	}
	return ""
}

// sameClasses compares the classes of two parts, if both are there.
func (l layout) sameClasses(a, b string) error {
	if len(l.parts[a]) == 0 || len(l.parts[b]) == 0 {
		return nil
	}
	inA, inB := classesOf(l.parts[a]), classesOf(l.parts[b])
	for _, side := range []struct {
		here, there   []string
		hereN, thereN string
	}{{inA, inB, a, b}, {inB, inA, b, a}} {
		missing := slices.DeleteFunc(slices.Clone(side.here), func(c string) bool {
			return slices.Contains(side.there, c)
		})
		if len(missing) > 0 {
			return fmt.Errorf("the classes of %s/ and %s/ differ: %s/ has no %s", a, b, side.thereN, someOf(missing))
		}
	}
	return nil
}

// classesOf returns the classes of sorted samples, in order.
func classesOf(samples []classed) []string {
	var names []string
	for _, s := range samples {
		if len(names) == 0 || names[len(names)-1] != s.class {
			names = append(names, s.class)
		}
	}
	return names
}

// someOf lists a few names and counts the rest.
func someOf(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
