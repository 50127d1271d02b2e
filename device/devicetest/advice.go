package devicetest

import "strings"

// advices suggests where the author of a device should look when a case finds a fault. A
// key is a prefix of case names. The longest matching key applies.
var advices = map[string]string{
	"info":            "fill in name, kernels, levels and ops; take the plugin's own name as kernel class",
	"open":            "list in DeviceInfo.precisions what Open takes, and refuse all else as UNSUPPORTED",
	"load":            "check the whole program before you allocate; compile nothing that you cannot run",
	"load: new state": "make every state tensor zero, at version 0",
	"load: invalid": "check types, names and indices of the program, and answer INVALID with what is " +
		"wrong",
	"load: two at a time": "keep state, gradients and version by executable, not by device",
	"load: operations":    "compare each node's operation with your list, and refuse what is not on it",
	"load: attributes": "keep the attributes that each operation has, and refuse nodes that have " +
		"others",
	"load: more": "add up what the program needs before you allocate, and answer OUT_OF_MEMORY with " +
		"both numbers",
	"memory":  "free what a call needed when it ends, or use it again",
	"process": "print to standard error; call the file bnctl-device-NAME, and NAME what Describe says",
	"grow":    "copy the state into what you allocate anew; let a run beyond the capacity be INVALID",
	"state": "copy what is written and what is read; pack or fold weights again after each Write and " +
		"Commit",
	"state: mistakes": "compare name, type and shape of what is written with the program's state table",
	"run":             "let a run read the state of one version, and write nothing but what train keeps",
	"run: mistakes":   "check function, inputs, rows and capacity before anything is computed",
	"run: times":      "measure the whole run, and in it the time from each exchange to its answer",
	"run: profile":    "give one time for each node, 0 for one that is done as part of another",
	"slots": "keep what train.forward keeps by the slot of the run, give it to the run of train.backward " +
		"that names the slot, and free it then; place leaves by the numbers of their replicas",
	"run: no rows": "let loops run over no row; a replica without rows adds nothing to any sum",
	"run: labels":  "compare labels with the number of classes, and answer INVALID",
	"run: replicas": "compare the number of Run.rows with that of the replicas in Join, in functions " +
		"with all-reduces",
	"commit":               "compare the version first: at v do it, at v+1 answer well, at any other INVALID",
	"commit: every tensor": "go through all updates of the function commit, and count the version last",
	"commit: hyper": "take inputs that train keeps from there, all others from Commit.hyper; one that " +
		"lacks is INVALID",
	"commit: not finite": "look at every update before any takes effect, or leave out the feature " +
		"finite-updates",
	"close":   "let Close end the call that is under way, and be called again",
	"context": "look at Cancel while you wait for an exchange and between nodes",
	"group":   "check the lists of replicas in Join, and take a new group in place of the old one",
	"all_reduce": "send the combination of each largest node of the tree that you hold; leave out " +
		"replicas without rows",
	"exchange": "count the exchanges of each lane in the run from 0, and put all-reduces that follow " +
		"each other into one",
	"training": "compare losses and state after each step with those of device/ref",
	"training: any number": "add up by replica, along the tree, whatever the other replicas of the " +
		"device are",
	"training: predict": "compute a row in an order that depends neither on other rows nor on their " +
		"number",
	"moments: mean/std": "take the mean first and then the squared deviations from it, or shift by a " +
		"value of the channel",
	"chain": "fuse by the program alone, and round where the precision says that a value is stored",
	"class": "compare with package device/class, or name a kernel class of your own",
	"rows": "look beyond the block of rows that the kernel takes at once, and at what a larger batch " +
		"has left",
	"rows: batches": "make buffers that fit each run, and clear what the one before has left",
	"all_reduce: a device": "give the sum of all replicas where the device is alone, without an " +
		"exchange",
	"exchange: members":      "hand on the error of the exchange; the run ends with it",
	"state: many":            "answer each of the writes, in their order",
	"run: again":             "make nothing depend on the runs before",
	"run: last":              "take Run.last as a hint: it changes no result",
	"commit: after a failed": "forget what train kept when a run fails, and keep state and version",
	"commit: once":           "forget what train kept once it is committed",
}

// operationAdvice is the advice for cases about a single operation.
const operationAdvice = "compare with the prose of the operation in device.proto and its loop in " +
	"device/ref, for the element that is named first"

// Advice returns advice for the author of a device about a fault that the case finds.
func (c Case) Advice() string {
	if strings.Contains(c.Name, ": a label ") {
		return advices["run: labels"]
	}
	best, advice := 0, operationAdvice
	for prefix, a := range advices {
		if len(prefix) > best && strings.HasPrefix(c.Name, prefix) {
			best, advice = len(prefix), a
		}
	}
	return advice
}
