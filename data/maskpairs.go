package data

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// placed is a member by its part ("" if there are none) and its name there
// without ending.
type placed struct {
	member
	part Split
	key  string
}

// placeAll leaves off folders that hold everything, and endings.
func placeAll(members []member) ([]placed, error) {
	paths := split(members)
	top := commonFolders(paths, 2)
	parts, err := partsOf(paths, top, false)
	if err != nil {
		return nil, err
	}
	var all []placed
	for i, p := range paths {
		p, part := p[top:], Split("")
		if parts != nil {
			part, p = parts[p[0]], p[1:]
		}
		key := strings.Join(p, "/")
		all = append(all, placed{members[i], part, strings.TrimSuffix(key, path.Ext(key))})
	}
	return all, nil
}

// pairs puts pictures and masks of the same part and name together, sorted by
// name. Masks may all have one ending to their names that pictures have not, as
// in a_L.png for a.jpg. What lacks its partner is there without.
func pairs(pictures, masks []placed) layout {
	type place struct {
		part Split
		key  string
	}
	both := map[place]*classed{}
	for _, p := range pictures {
		both[place{p.part, p.key}] = &classed{member: p.member, rest: p.key}
	}
	ending := maskEnding(pictures, masks)
	for _, m := range masks {
		at := place{m.part, strings.TrimSuffix(m.key, ending)}
		if both[at] == nil {
			both[at] = &classed{member: member{name: m.name}, rest: at.key}
		}
		both[at].mask = m.member
	}
	l := layout{parts: map[Split][]classed{}}
	for at, c := range both {
		l.parts[at.part] = append(l.parts[at.part], *c)
	}
	for _, samples := range l.parts {
		slices.SortFunc(samples, func(a, b classed) int { return strings.Compare(a.rest, b.rest) })
	}
	return l
}

// maskEnding returns what the names of all masks end with beyond those of
// pictures: "" where a picture is called like a mask.
func maskEnding(pictures, masks []placed) string {
	keys := map[string]bool{}
	for _, p := range pictures {
		keys[p.key] = true
	}
	ending := ""
	for i, m := range masks {
		if keys[m.key] {
			return ""
		}
		if i > 0 {
			continue
		}
		for n := len(m.key) - 1; n > 0 && ending == ""; n-- {
			if keys[m.key[:n]] {
				ending = m.key[n:]
			}
		}
	}
	for _, m := range masks {
		if !strings.HasSuffix(m.key, ending) {
			return ""
		}
	}
	return ending
}

// byLists returns the samples in the parts that lists of names, with or without
// ending and folder, say. A name that is not there is a sample without picture.
func (l layout) byLists(lists map[Split]string) (layout, error) {
	if len(l.parts) > 1 || len(l.parts) == 1 && l.parts[""] == nil {
		return l, fmt.Errorf("there are folders %s and lists; want one of them",
			strings.Join(foldersOf(slices.Sorted(maps.Keys(l.parts))), ", "))
	}
	byName := map[string]classed{}
	for _, c := range l.parts[""] {
		byName[path.Base(c.rest)] = c
	}
	for _, c := range l.parts[""] {
		byName[c.rest] = c
	}
	out := layout{parts: map[Split][]classed{}}
	for part, text := range lists {
		for line := range strings.Lines(text) {
			name := strings.TrimSpace(line)
			if name == "" {
				continue
			}
			c, ok := byName[name]
			if !ok {
				c, ok = byName[strings.TrimSuffix(name, path.Ext(name))]
			}
			if !ok {
				c = classed{member: member{name: name}, rest: name}
			}
			out.parts[part] = append(out.parts[part], c)
		}
	}
	return out, nil
}

// takeLists takes list files such as train.txt and val.txt out of members.
func takeLists(members []member, lists map[Split]string) ([]member, error) {
	var rest []member
	for _, m := range members {
		if !isList(m.name) {
			rest = append(rest, m)
			continue
		}
		text, err := m.read()
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.name, err)
		}
		part := listed(m.name)
		if was, ok := lists[part]; ok && was != string(text) {
			return nil, problem.Advise("leave one of them", "%s is a second list of the part %s, and says another",
				m.name, part)
		}
		lists[part] = string(text)
	}
	return rest, nil
}

// listed returns the part whose names a file lists, as train.txt does; "" if it
// is no list.
func listed(name string) Split {
	part, ok := strings.CutSuffix(path.Base(name), ".txt")
	if !ok {
		return ""
	}
	return partOf(part)
}

// isList reports whether a file lists the names of a part.
func isList(name string) bool { return listed(name) != "" }
