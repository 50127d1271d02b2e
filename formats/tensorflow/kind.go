package tensorflow

import (
	"regexp"
	"strings"
	"sync"
)

// suffix is the part that object-based checkpoints append to the name of a variable.
const suffix = "/.ATTRIBUTES/VARIABLE_VALUE"

// leftOut lists the names of variables that do not belong to the model, with the group
// under which they are reported.
var leftOut = sync.OnceValue(func() []leaving {
	return []leaving{
		{regexp.MustCompile(`/\.OPTIMIZER_SLOT/([^/]+)/([^/]+)`), ".OPTIMIZER_SLOT/$1/$2", "optimizer slots"},
		{regexp.MustCompile(`^_CHECKPOINTABLE_OBJECT_GRAPH$`), "$0", "names of the objects"},
		{regexp.MustCompile(`^(save_counter|global_step)$`), "$1", "counter"},
		{regexp.MustCompile(`^(optimizer|keras_api)/`), "$1", "state of the training"},
		{regexp.MustCompile(`/((?:Adam|AdamW|Adamax|Nadam|LARS|LAMB|Momentum|RMSProp|Adagrad|AdagradDA|Adadelta|` +
			`Ftrl|LARSOptimizer|LAMBOptimizer|AdamWeightDecayOptimizer)(?:_[0-9]+)?|adam_[mv])$`),
			"$1", "optimizer slots"},
		{regexp.MustCompile(`(?:^|/)(beta[12]_power|local_step|biased|loss_scale|good_steps|current_loss_scale)$`),
			"$1", "state of the training"},
		{regexp.MustCompile(`^((?:\w+_)?(?:opt|optim|optimizers?))/`), "$1", "state of the training"},
		{regexp.MustCompile(`/(ExponentialMovingAverage)$`), "$1", "averages of the weights"},
	}
})

// leaving is the reason for leaving out variables of some names.
type leaving struct {
	name   *regexp.Regexp
	group  string // $1 and $2 are the parts of the name that the pattern has in brackets
	reason string
}

// numbers are single values stored with a model: the values that tf.train.Checkpoint stores
// for an optimizer, a loop or a metric. Parameters of models never have these names.
var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(iter|iterations|step|steps|epoch|epochs|counter|decay|lr|` +
		`learning_rate|momentum|rho|beta_[12]|global_step|best\w*|total|count)$`)
})

// classify returns the name of a variable among the model's tensors, or the group under
// which it is left out.
func classify(name string) (tensorName, group, reason string) {
	tensorName = strings.TrimSuffix(name, suffix)
	for _, l := range leftOut() {
		if m := l.name.FindStringSubmatchIndex(tensorName); m != nil {
			return "", string(l.name.ExpandString(nil, l.group, tensorName, m)), l.reason
		}
	}
	return tensorName, "", ""
}

// averageName matches the names of variables that are the average of another one: averages
// of tf.train.ExponentialMovingAverage, and the slots of averaging optimizers.
var averageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+)/(?:ExponentialMovingAverage|\.OPTIMIZER_SLOT/[^/]+/average)$`)
})

// averaged returns the name of the variable that name is the average of.
func averaged(name string) (variable string, ok bool) {
	m := averageName().FindStringSubmatch(strings.TrimSuffix(name, suffix))
	if m == nil {
		return "", false
	}
	return m[1], true
}
