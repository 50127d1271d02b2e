// Package house has no code: its tests hold the whole tree to the rules of CONTRIBUTING.md. They
// say who may import whom, which words texts may have, and that every exported name has a user.
package house
