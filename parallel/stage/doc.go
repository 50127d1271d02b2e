// Package stage divides programs so that the layers of a network can run on several devices. Its
// functions work on graphs and do not depend on devices. Use it where a network does not fit one
// device, and package parallel to run the programs. docs/design/stages.md describes stages, and
// explains why no bit changes.
//
//	Network    a template, and where it can be divided
//	Division   the stage of each layer; it divides programs of the template
package stage
