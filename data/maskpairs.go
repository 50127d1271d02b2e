package data

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// keyedFile is a file with its split ("" without splits), and its name in the split without the
// extension.
type keyedFile struct {
	member
	split Split
	key   string
}

// keyFiles finds the split and the name of each member. It removes folders that all members have, and
// extensions.
func keyFiles(members []member) ([]keyedFile, error) {
	paths := splitPaths(members)
	top := commonFolders(paths, 2)
	splits, err := splitsOf(paths, top, false)
	if err != nil {
		return nil, err
	}
	var all []keyedFile
	for i, p := range paths {
		p, split := p[top:], Split("")
		if splits != nil {
			split, p = splits[p[0]], p[1:]
		}
		key := strings.Join(p, "/")
		all = append(all, keyedFile{members[i], split, strings.TrimSuffix(key, path.Ext(key))})
	}
	return all, nil
}

// pairs combines each picture with the mask of the same split and name, sorted by name. All masks may have a
// common suffix that their pictures do not have, for example a_L.png for a.jpg. A picture without a mask, or
// a mask without a picture, is also in the result.
func pairs(pictures, masks []keyedFile) layout {
	type pairKey struct {
		split Split
		key   string
	}
	both := map[pairKey]*sampleFile{}
	for _, p := range pictures {
		both[pairKey{p.split, p.key}] = &sampleFile{member: p.member, rest: p.key}
	}
	suffix := maskSuffix(pictures, masks)
	for _, m := range masks {
		at := pairKey{m.split, strings.TrimSuffix(m.key, suffix)}
		if both[at] == nil {
			both[at] = &sampleFile{member: member{name: m.name}, rest: at.key}
		}
		both[at].mask = m.member
	}
	l := layout{splits: map[Split][]sampleFile{}}
	for at, c := range both {
		l.splits[at.split] = append(l.splits[at.split], *c)
	}
	for _, samples := range l.splits {
		slices.SortFunc(samples, func(a, b sampleFile) int { return strings.Compare(a.rest, b.rest) })
	}
	return l
}

// maskSuffix returns the text by which the names of all masks are longer than the names of their pictures. It
// is "" if a picture has the same name as a mask.
func maskSuffix(pictures, masks []keyedFile) string {
	keys := map[string]bool{}
	for _, p := range pictures {
		keys[p.key] = true
	}
	suffix := ""
	for i, m := range masks {
		if keys[m.key] {
			return ""
		}
		if i > 0 {
			continue
		}
		for n := len(m.key) - 1; n > 0 && suffix == ""; n-- {
			if keys[m.key[:n]] {
				suffix = m.key[n:]
			}
		}
	}
	for _, m := range masks {
		if !strings.HasSuffix(m.key, suffix) {
			return ""
		}
	}
	return suffix
}

// byLists returns the samples in the splits that lists of names define. The names may have extensions and
// folders. A name without a file becomes a sample without a picture.
func (l layout) byLists(lists map[Split]string) (layout, error) {
	if len(l.splits) > 1 || len(l.splits) == 1 && l.splits[""] == nil {
		return l, fmt.Errorf("there are folders %s and lists; want one of them",
			strings.Join(foldersOf(slices.Sorted(maps.Keys(l.splits))), ", "))
	}
	byName := map[string]sampleFile{}
	for _, c := range l.splits[""] {
		byName[path.Base(c.rest)] = c
	}
	for _, c := range l.splits[""] {
		byName[c.rest] = c
	}
	out := layout{splits: map[Split][]sampleFile{}}
	for split, text := range lists {
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
				c = sampleFile{member: member{name: name}, rest: name}
			}
			out.splits[split] = append(out.splits[split], c)
		}
	}
	return out, nil
}

// takeLists removes the files that list a split, like train.txt and val.txt, from members. It reads them into
// lists.
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
		split := splitOfList(m.name)
		if was, ok := lists[split]; ok && was != string(text) {
			return nil, problem.Advise("leave one of them", "%s is a second list of the part %s, and says another",
				m.name, split)
		}
		lists[split] = string(text)
	}
	return rest, nil
}

// splitOfList returns the split of a list by the name of its file, like train.txt, or "" if the file is not a
// list.
func splitOfList(name string) Split {
	list, ok := strings.CutSuffix(path.Base(name), ".txt")
	if !ok {
		return ""
	}
	return splitOf(list)
}

// isList reports whether a file lists the names of a split.
func isList(name string) bool { return splitOfList(name) != "" }
