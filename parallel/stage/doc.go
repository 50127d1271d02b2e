// Package stage divides programs, so that the layers of a network lie on several devices:
// functions on graphs, which know of no device. Use it where a network does not fit one
// device, and package parallel to run what it makes. docs/design/stages.md says what that
// is, and why no bit changes.
//
//	Network    a template, and where it can be divided
//	Division   which stage has which layer; it divides programs of the template
package stage
