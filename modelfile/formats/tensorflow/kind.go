package tensorflow

import (
	"regexp"
	"strings"
	"sync"
)

// suffix is what object-based checkpoints append to the name of a variable.
const suffix = "/.ATTRIBUTES/VARIABLE_VALUE"

// leftOut lists the variables that are not the model's, by their names, with
// the name of the group that they are reported as.
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

// leaving is why variables of some names are left out.
type leaving struct {
	name   *regexp.Regexp
	group  string // $1 and $2 are what the name has in brackets
	reason string
}

// numbers are single values beside a model: what tf.train.Checkpoint keeps of an
// optimizer, a loop or a metric. A model has no parameter of such a name.
var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(iter|iterations|step|steps|epoch|epochs|counter|decay|lr|` +
		`learning_rate|momentum|rho|beta_[12]|global_step|best\w*|total|count)$`)
})

// classify returns the name that a variable has among the model's tensors, or
// the group that it is left out with.
func classify(name string) (tensorName, group, reason string) {
	tensorName = strings.TrimSuffix(name, suffix)
	for _, l := range leftOut() {
		if m := l.name.FindStringSubmatchIndex(tensorName); m != nil {
			return "", string(l.name.ExpandString(nil, l.group, tensorName, m)), l.reason
		}
	}
	return tensorName, "", ""
}

// averageName is what variables are called that average another one: those of
// tf.train.ExponentialMovingAverage, and the slots of optimizers that average.
var averageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+)/(?:ExponentialMovingAverage|\.OPTIMIZER_SLOT/[^/]+/average)$`)
})

// averaged returns the name of the variable whose average is called name.
func averaged(name string) (variable string, ok bool) {
	m := averageName().FindStringSubmatch(strings.TrimSuffix(name, suffix))
	if m == nil {
		return "", false
	}
	return m[1], true
}
