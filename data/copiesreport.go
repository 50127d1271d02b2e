package data

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Copies lists the equal pictures of a source, and the pictures that it shares with other parts of the data.
type Copies struct {
	Extra   int        `json:"extra"`                   // number of pictures that equal an earlier one
	Groups  [][]string `json:"groups,omitempty"`        // names of equal pictures of the source
	Classes [][]string `json:"in_classes,omitempty"`    // the ones of Groups that have different labels
	Both    [][]string `json:"on_both_sides,omitempty"` // pictures that another source has too
	// Uncompared is 0, or the total size in bytes of files with equal sizes, if these were too large to be
	// compared.
	Uncompared int64 `json:"uncompared,omitempty"`
}

// FindCopies compares the pictures of src with each other and with the pictures of others, the other parts of
// the data. It returns nil if all pictures are different. Pictures are equal if they have the same size and
// pixels. In a large source the content of the files is compared instead, and in a very large one nothing is
// compared.
func FindCopies(ctx context.Context, src Source, others ...Source) (*Copies, error) {
	return usualLimits().find(ctx, append([]Source{src}, others...))
}

func (l copyLimits) find(ctx context.Context, sources []Source) (*Copies, error) {
	groups, left, err := l.equalPictures(ctx, sources...)
	if err != nil {
		return nil, err
	}
	c := &Copies{Uncompared: left}
	for _, g := range groups {
		if err := c.add(ctx, sources, g); err != nil {
			return nil, err
		}
	}
	if c.Extra == 0 && len(c.Both) == 0 && left == 0 {
		return nil, nil
	}
	return c, nil
}

// add adds a group of equal pictures. The pictures of the source itself come first.
func (c *Copies) add(ctx context.Context, sources []Source, g []reference) error {
	count := slices.IndexFunc(g, func(p reference) bool { return p.source > 0 })
	if count < 0 {
		count = len(g)
	}
	if count > 0 && count < len(g) {
		c.Both = append(c.Both, namesOf(sources, g))
	}
	if count < 2 {
		return nil
	}
	c.Extra += count - 1
	c.Groups = append(c.Groups, namesOf(sources, g[:count]))
	differ, err := labelsDiffer(ctx, sources[0], g[:count])
	if differ {
		c.Classes = append(c.Classes, namesOf(sources, g[:count]))
	}
	return err
}

func namesOf(sources []Source, g []reference) (names []string) {
	for _, p := range g {
		names = append(names, sources[p.source].Name(p.sample))
	}
	return names
}

// labelsDiffer reports whether equal pictures have different labels. It does not read masks.
func labelsDiffer(ctx context.Context, src Source, g []reference) (bool, error) {
	if i := src.Info(); !i.Labelled || i.Masks {
		return false, nil
	}
	var first []int32
	for k, p := range g {
		label, err := src.Label(ctx, p.sample)
		if err != nil {
			return false, err
		}
		if k == 0 {
			first = label
		}
		if !slices.Equal(first, label) {
			return true, nil
		}
	}
	return false, nil
}

// Notes describes the copies for a user. duplicated is the text about pictures that are also in another part
// of the data.
func (c *Copies) Notes(duplicated string) (notes []string) {
	if c == nil {
		return nil
	}
	note := func(groups [][]string, one, several string) {
		verb := one
		if len(groups) > 1 {
			verb = several
		}
		subject := problem.Plural(len(groups), "picture")
		notes = append(notes, fmt.Sprintf("%s %s: %s", subject, verb, equalNames(groups)))
	}
	if len(c.Both) > 0 {
		note(c.Both, "is "+duplicated, "are "+duplicated)
	}
	if len(c.Classes) > 0 {
		note(c.Classes, "has several labels", "have several labels")
	}
	if c.Uncompared > 0 {
		const text = "equal pictures were not looked for: the files of equal size have %.1f GiB, and up to " +
			"%d GiB are compared"
		size, most := float64(c.Uncompared)/(1<<30), usualLimits().hashedBytes>>30
		notes = append(notes, fmt.Sprintf(text, size, most))
	}
	if c.Extra > 0 {
		note(c.Groups, "has copies", "have copies")
	}
	return notes
}

// equalNames lists the names of the first groups: "a/1.jpg = b/2.jpg, a/3.jpg = a/4.jpg and 5 more".
func equalNames(groups [][]string) string {
	const most, each = 3, 4
	var texts []string
	for _, g := range groups[:min(len(groups), most)] {
		text := strings.Join(g[:min(len(g), each)], " = ")
		if len(g) > each {
			text += " = ..."
		}
		texts = append(texts, text)
	}
	text := strings.Join(texts, ", ")
	if n := len(groups) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
