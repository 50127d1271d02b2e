// Package experiment makes the runs of a study about batch norm. It trains one recipe on a single device,
// with sync batch norm and with replica batch norm, for several seeds and numbers of samples per replica, and
// evaluates the weights of every run with each way of keeping running statistics. It also measures the bias
// of a variance over few samples, and the training speed of each way.
//
// Use it to repeat a comparison of package study with other data, models or recipes. Results are written to a
// folder as soon as they exist, and a study that was stopped continues from them.
package experiment
