package formats

import (
	"strings"
	"testing"
)

// TestRename: each pattern must match a whole name, and is applied to the result of the
// ones before it.
func TestRename(t *testing.T) {
	for _, c := range []struct{ in, by, want string }{
		{"backbone.conv1.w backbone.bn1.w head.fc.w", "backbone.(.*)=$1 head.fc.(.*)=fc.$1",
			"conv1.w bn1.w fc.w; backbone.(.*)=$1: renames 2 tensors: \"backbone.conv1.w\" is \"conv1.w\" now, " +
				"\"backbone.bn1.w\" is \"bn1.w\" now; head.fc.(.*)=fc.$1: renames 1 tensor: \"head.fc.w\" is \"fc.w\" now"},
		{"a.backbone.w backbone.w", "backbone.(.*)=$1", "a.backbone.w w; backbone.(.*)=$1: renames 1 tensor: " +
			"\"backbone.w\" is \"w\" now; not renamed: 1 tensor: \"a.backbone.w\""},
		{"fc.1.w fc.w", `fc\.1\.(.*)=fc.$1`, `"fc.1.w" and "fc.w" would both be called "fc.w"`},
		{"a.w", "w=b", `rename w=b: matches no name; it has to match a whole one; there are "a.w"`},
		{"a.w", "a.w", "want REGEX=REPLACEMENT"},
		{"a.w", "=x", "want REGEX=REPLACEMENT"},
		{"a.w", "a.(=x", "error parsing regexp"},
		{"a.w", "a)(b=x", "error parsing regexp"},
		{"a.w", "(.*)=", "leaves nothing of the name"},
		{"a.w", "(.).w=$2", "$2 stands for no group of the pattern, which has 1"},
		{"a.w", "(.).w=$1x", "$1x stands for no group of the pattern, which has 1; write ${1}"},
		{"a.w", "(.).w=${1}x", "ax; (.).w=${1}x: renames 1 tensor: \"a.w\" is \"ax\" now"},
		{"a.w", "(?P<n>.).w=$n.v", "a.v; (?P<n>.).w=$n.v: renames 1 tensor: \"a.w\" is \"a.v\" now"},
		{"a.w", "a.w=b b=c", "c; a.w=b: renames 1 tensor: \"a.w\" is \"b\" now; b=c: renames 1 tensor: \"b\" is \"c\" now"},
		{"a.w b.w", "a.w=b.w b.w=c.w", "would both be called \"c.w\""},
	} {
		f := named(strings.Fields(c.in)...)
		got := ""
		if err := rename(f, strings.Fields(c.by)); err != nil {
			got = err.Error()
		} else {
			got = namesOf(f)
			for _, n := range f.Findings {
				got += "; " + strings.TrimPrefix(n.Where+": "+n.Text, ": ")
			}
		}
		if got != c.want && !strings.Contains(got, c.want) {
			t.Errorf("%s by %s: got %s\nwant %s", c.in, c.by, got, c.want)
		}
	}
}
