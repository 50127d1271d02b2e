package tensorflow

import (
	"regexp"
	"strings"
)

// suffix is what object-based checkpoints append to the name of a variable.
const suffix = "/.ATTRIBUTES/VARIABLE_VALUE"

// leftOut lists the variables that are not the model's, by their names, with
// the name of the group that they are reported as.
var leftOut = []struct {
	name   *regexp.Regexp
	group  string // $1 and $2 are what the name has in brackets
	reason string
}{
	{regexp.MustCompile(`/\.OPTIMIZER_SLOT/([^/]+)/([^/]+)`), ".OPTIMIZER_SLOT/$1/$2", "optimizer slots"},
	{regexp.MustCompile(`^_CHECKPOINTABLE_OBJECT_GRAPH$`), "$0", "names of the objects"},
	{regexp.MustCompile(`^(save_counter|global_step)$`), "$1", "counter"},
	{regexp.MustCompile(`^(optimizer|keras_api)/`), "$1", "state of the training"},
	{regexp.MustCompile(`/(Adam|Adam_1|Momentum|RMSProp|RMSProp_1|Adagrad|Ftrl|Ftrl_1)$`),
		"$1", "optimizer slots"},
	{regexp.MustCompile(`^beta[12]_power$`), "$0", "state of the training"},
	{regexp.MustCompile(`/(ExponentialMovingAverage)$`), "$1", "averages of the weights"},
}

// classify returns the name that a variable has among the model's tensors, or
// the group that it is left out with.
func classify(name string) (kept, group, reason string) {
	kept = strings.TrimSuffix(name, suffix)
	for _, l := range leftOut {
		if m := l.name.FindStringSubmatchIndex(kept); m != nil {
			return "", string(l.name.ExpandString(nil, l.group, kept, m)), l.reason
		}
	}
	return kept, "", ""
}
