package formats

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/problem"
)

// replicaPart is the part that MirroredStrategy adds to the names of the variables of all
// replicas except the first, in a checkpoint that expands them.
var replicaPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/replica_([1-9][0-9]{0,3})$|/replica_([1-9][0-9]{0,3})/`)
})

// mergeReplicas merges the variables of replicas like the files of ranks.
func mergeReplicas(f *File, rule bn.Rule) error {
	if f.Model != nil {
		return nil
	}
	var first []Tensor
	others := map[int]map[string]Tensor{}
	for _, t := range f.Tensors {
		name, k := replicaOf(t.Name)
		if k == 0 {
			first = append(first, t)
			continue
		}
		if others[k] == nil {
			others[k] = map[string]Tensor{}
		}
		others[k][name] = t.Renamed(name)
	}
	if len(others) == 0 {
		return nil
	}
	files, names := []*File{f}, []string{"replica 0"}
	f.Tensors = first
	for k := 1; k <= len(others); k++ {
		if others[k] == nil {
			return fmt.Errorf("there are variables of %s, and none of replica %d",
				problem.Plural(len(others), "more replica"), k)
		}
		files = append(files, fullReplica(first, others[k]))
		names = append(names, "replica "+strconv.Itoa(k))
		f.Wrappers = append(f.Wrappers, "replica_"+strconv.Itoa(k))
	}
	return mergeRanks(files, names, rule)
}

// replicaOf removes the number of a replica from a name. It returns the name and the
// number, which is 0 if the name has none.
func replicaOf(name string) (string, int) {
	at := replicaPart().FindStringSubmatchIndex(name)
	if at == nil {
		return name, 0
	}
	digits := name[max(at[2], at[4]):max(at[3], at[5])]
	k, _ := strconv.Atoi(digits) // the pattern only matches digits
	tail := name[at[1]:]
	if tail != "" {
		tail = "/" + tail
	}
	return name[:at[0]] + tail, k
}

// fullReplica completes the variables of a replica with those that it shares with the first
// replica. A variable that the first replica lacks is kept, and the merge reports it.
func fullReplica(first []Tensor, local map[string]Tensor) *File {
	f := &File{}
	for _, t := range first {
		if mine, ok := local[t.Name]; ok {
			t = mine
			delete(local, t.Name)
		}
		f.Tensors = append(f.Tensors, t)
	}
	for _, t := range local {
		f.Tensors = append(f.Tensors, t)
	}
	return f
}
