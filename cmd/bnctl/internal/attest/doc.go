// Package attest writes and verifies signed statements about templates: an in-toto Statement v1 with
// SLSA provenance v1, in a DSSE envelope that is signed with an ed25519 key. docs/statements.md
// describes the fields. The package uses no network.
//
// Use it to record the release that trained or reproduced a template, the recipe and the data. The
// package writes the JSON and the signature without the modules of in-toto, which would make every
// program larger. The tests compare both with these modules.
package attest
