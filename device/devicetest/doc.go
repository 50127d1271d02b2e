// Package devicetest judges devices: whether they keep the contract of package
// device, and whether their operations are those of package device/ref.
//
// Use Run in the tests of every device that you write.
//
// A case quotes the sentence that it checks. The same list of cases is run by
// go test, through Run, and by whoever judges a device from outside, through
// Judge. A rule of the contract without a case here does not exist.
//
// # Operations
//
// An operation is checked by probes: programs of one node, run with awkward
// shapes on replicas of 2, 0, 3 and 1 rows. The results are compared with
// those of ref: by their bits where the op table defines them, else within the
// probe's tolerance (docs/numerics.md, section 5). Then each replica is run alone, and no
// replica at all; of a device that says that it is deterministic the bits of a
// replica alone must be those among others.
//
// # Classes
//
// A device that claims class class.FMA (Info.Kernels) has promised bits: whatever a
// case compares with ref is compared, bit by bit, with what ref yields when it runs
// the definitions of the class, and cases of its own run every algorithm that
// class.Choose returns. A NaN is any NaN, the sign of zero counts.
//
// # Precisions
//
// All cases run at each precision that the device has, beside ref at the same
// one. At device.BF16 a result that is stored must be made of bfloat16s, and may
// be off by one rounding on either side of what is allowed of it before; most
// must be the nearest. Where values lie inside that a device may store or not, in
// chains and in training, it may be twice as far from ref as ref at F32 is.
//
// No case is left out: where a device lacks an operation, its case checks that
// Load refuses the program as the contract says, and the result names what is
// lacking. What a device must have is for the caller to decide.
package devicetest
