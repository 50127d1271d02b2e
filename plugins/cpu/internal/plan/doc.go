// Package plan compiles functions: it has every node built as an action, gathers
// actions into groups, links them into chains, decides which values are halves,
// and gives every value its place in memory. It knows no operation.
package plan
