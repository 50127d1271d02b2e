package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Finding is a question of the study, with the answer that the results give.
type Finding struct {
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Details  []string `json:"details"` // supporting figures
}

// Findings returns those questions that the results suffice for, with answers. Every difference is
// between runs with the same seed, and has a 95 % confidence interval.
func (r *Results) Findings() []Finding {
	var out []Finding
	findings := []func() *Finding{r.needsSync, r.rightMerge, r.smallDiffers, r.healthyAgrees, r.sampled,
		r.InAnHour}
	for _, answer := range findings {
		if f := answer(); f != nil {
			f.Question, f.Answer = r.worded(f.Question), r.worded(f.Answer)
			for i, detail := range f.Details {
				f.Details[i] = r.worded(detail)
			}
			out = append(out, *f)
		}
	}
	return out
}

// pooled is the name of the statistics that single, sync and replica runs all have.
const pooled = "pooled"

func (r *Results) setting(a Arm, perReplica int) Setting {
	if a == Single {
		return Setting{Single, r.Batch, 1}
	}
	return Setting{a, perReplica, r.Batch / perReplica}
}

// best returns the statistics with the lowest mean loss in the runs of a setting, or "" without runs.
func (r *Results) best(s Setting) string {
	best, lowest := "", math.Inf(1)
	for _, name := range r.statistics(s) {
		var losses []float64
		for _, score := range r.bySeed(s, name) {
			losses = append(losses, score.Loss)
		}
		if f := figure(losses); f.Mean < lowest {
			best, lowest = name, f.Mean
		}
	}
	return best
}

// needsSync compares sync with replica batch norm for every number of samples per replica. For replica batch
// norm it uses the statistics with the lowest loss.
func (r *Results) needsSync() *Finding {
	f := &Finding{Question: "Does batch norm need synchronising?"}
	sizes := map[verdict][]string{}
	for _, k := range r.PerReplica {
		sync, apart := r.setting(Sync, k), r.setting(Replica, k)
		name := r.best(apart)
		a, b := r.scores(sync, pooled), r.scores(apart, name)
		gain, lossIncrease := r.paired(a, b, accuracy), r.paired(a, b, loss)
		if gain.Seeds == 0 {
			continue
		}
		v := judge(gain, lossIncrease)
		sizes[v] = append(sizes[v], fmt.Sprint(k))
		f.Details = append(f.Details, fmt.Sprintf("%s per replica: sync gains %s of accuracy, loss %s "+
			"(against replica batch norm with %s statistics, its best; %s)",
			problem.Plural(k, "sample"), gain.points(), lossIncrease.loss(), name, problem.Plural(gain.Seeds, "seed")))
	}
	if len(f.Details) == 0 {
		return nil
	}
	var clauses []string
	for _, a := range syncAnswers {
		if with := sizes[a.verdict]; len(with) > 0 {
			clauses = append(clauses, listed(with)+" samples per replica: "+a.text)
		}
	}
	f.Answer = "With " + strings.Join(clauses, "; with ") + "."
	return f
}

// listed joins words to a list in a sentence: "1, 4 and 8".
func listed(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// syncAnswers has a sentence for each verdict on sync batch norm, in the order that the answer mentions
// them.
var syncAnswers = []struct {
	verdict verdict
	text    string
}{
	{better, "yes, clearly"},
	{betterAccuracy, "yes in accuracy, no difference beyond chance in loss"},
	{betterLoss, "yes in loss, no difference beyond chance in accuracy"},
	{opposed, "accuracy and loss contradict each other, both beyond chance"},
	{noDifference, "no difference beyond chance"},
	{oneSeed, "one seed does not show the extent of chance"},
	{worse, "no, it does worse with it"},
}

// rightMerge compares the ways of keeping running statistics, on the same weights.
func (r *Results) rightMerge() *Finding {
	f := &Finding{Question: "Which merge of the replicas' statistics is right?"}
	var answers []string
	for _, k := range r.PerReplica {
		s := r.setting(Replica, k)
		base := r.scores(s, pooled)
		if len(base) == 0 {
			continue
		}
		var costs, exceptions []string
		for _, name := range r.statistics(s) {
			if name == pooled {
				continue
			}
			other := r.scores(s, name)
			gain, lossIncrease := r.paired(other, base, accuracy), r.paired(other, base, loss)
			f.Details = append(f.Details, fmt.Sprintf("%s per replica: %s instead of pooled: "+
				"accuracy %s, loss %s", problem.Plural(k, "sample"), name, gain.points(), lossIncrease.loss()))
			costs = append(costs, fmt.Sprintf("%s %s (worse with %d of %s)", name, lossIncrease.loss(),
				lossIncrease.Up,
				problem.Plural(lossIncrease.Seeds, "seed")))
			if lossIncrease.Clear() {
				exceptions = append(exceptions, name)
			}
		}
		chance := "within chance"
		if len(exceptions) > 0 {
			chance = "beyond chance: " + strings.Join(exceptions, ", ")
		}
		answers = append(answers, fmt.Sprintf("With %s per replica %s has the lowest loss; against "+
			"pooled: %s; %s.", problem.Plural(k, "sample"), r.best(s), strings.Join(costs, ", "), chance))
	}
	if len(answers) == 0 {
		return nil
	}
	f.Answer = strings.Join(answers, " ")
	return f
}

// smallDiffers compares the smallest with the largest number of samples per replica.
func (r *Results) smallDiffers() *Finding {
	small, healthy := slices.Min(r.PerReplica), slices.Max(r.PerReplica)
	smaller, larger := r.scores(r.setting(Replica, small), pooled), r.scores(r.setting(Replica, healthy), pooled)
	gain, lossIncrease := r.paired(smaller, larger, accuracy), r.paired(smaller, larger, loss)
	if gain.Seeds == 0 || small == healthy {
		return nil
	}
	f := &Finding{Question: fmt.Sprintf("Does replica batch norm with %s differ from %d, "+
		"as in the literature?", problem.Plural(small, "sample"), healthy)}
	f.Details = append(f.Details, fmt.Sprintf("replica, pooled: %d instead of %d: accuracy %s, loss %s",
		small, healthy, gain.points(), lossIncrease.loss()))
	a, b := r.scores(r.setting(Sync, small), pooled), r.scores(r.setting(Sync, healthy), pooled)
	if len(a) > 0 && len(b) > 0 {
		f.Details = append(f.Details, fmt.Sprintf("control, sync (the same mathematics, only rounded otherwise): "+
			"accuracy %s, loss %s", r.paired(a, b, accuracy).points(), r.paired(a, b, loss).loss()))
	}
	f.Details = append(f.Details, "literature: Wu and He 2018 (Group Normalization, table 2): ResNet-50 on "+
		"ImageNet, validation error 23.6 % with 32 samples per device and 34.7 % with 2")
	f.Answer = fmt.Sprintf("%s: accuracy %s, loss %s.", fewerSays(gain, lossIncrease), gain.points(),
		lossIncrease.loss())
	return f
}

// fewerSays returns the answer whether fewer samples are worse, from the gain of accuracy and the increase
// of the loss.
func fewerSays(gain, lossIncrease difference) string {
	a, l := -gain.sign(), lossIncrease.sign()
	switch {
	case gain.Seeds == 1:
		return "One seed does not show the extent of chance"
	case a > 0 && l > 0:
		return "Yes"
	case a*l < 0:
		return "Accuracy and loss contradict each other, both beyond chance"
	case a > 0:
		return "In accuracy yes, in loss not beyond chance"
	case l > 0:
		return "In loss yes, in accuracy not beyond chance"
	case a == 0 && l == 0 && gain.Mean < 0 && lossIncrease.Mean > 0:
		return "In that direction, but not beyond chance"
	}
	return "Not here"
}

// healthyAgrees reports whether all ways of training agree at the largest number of samples per replica. They
// agree if the mean of each way differs from the mean over all ways by at most two standard deviations of a
// single seed.
func (r *Results) healthyAgrees() *Finding {
	k := slices.Max(r.PerReplica)
	var rows []Row
	sum, spread := 0.0, 0.0
	for _, row := range r.Table() {
		if row.Arm == Single || row.PerReplica == k {
			rows = append(rows, row)
			sum += row.Accuracy.Mean
			spread += float64(row.Accuracy.Deviation * row.Accuracy.Deviation)
		}
	}
	if len(rows) < 2 || spread == 0 {
		return nil
	}
	mean, deviation := sum/float64(len(rows)), math.Sqrt(spread/float64(len(rows)))
	f := &Finding{Question: fmt.Sprintf("Does everything agree within the seeds' spread "+
		"with %s per replica?", problem.Plural(k, "sample"))}
	f.Details = append(f.Details, fmt.Sprintf("mean of all %.2f %%; standard deviation of one seed %.2f points",
		mean, deviation))
	var exceptions []string
	for _, row := range rows {
		if math.Abs(row.Accuracy.Mean-mean) > 2*deviation {
			exceptions = append(exceptions, fmt.Sprintf("%s, %s (%.2f %%)", row.Arm, row.Statistics,
				row.Accuracy.Mean))
		}
	}
	f.Answer = fmt.Sprintf("Yes: all %d means are within two standard deviations of one seed of their mean.",
		len(rows))
	if len(exceptions) > 0 {
		f.Answer = "No: outside two standard deviations are " + strings.Join(exceptions, "; ") + "."
	}
	return f
}
