// Package house has no code: its tests check that the whole tree follows the rules of CONTRIBUTING.md.
// They define which package may import which, which words texts may have, and that every exported name
// has a user.
package house
