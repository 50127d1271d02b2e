// Package experiment makes the runs of a study: it trains one recipe on a single
// device, with sync batch norm and with replica batch norm, for several seeds
// and shares of the batch, and scores the weights of every run with each way
// of keeping running statistics. It also measures what few samples see of a
// variance, and how fast each way trains.
//
// Use it to repeat a comparison of package study with data, a model or a recipe
// of your own. What is found is kept in a folder as soon as it is there: a
// study that is stopped goes on from it.
package experiment
