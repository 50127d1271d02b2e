// Package devicetest tests devices: it checks that they keep the contract of package
// device, and that their operations compute the same results as package device/ref.
//
// Use Run in the tests of every device that you write.
//
// A case quotes the rule that it checks. Go tests run all cases through Run,
// other programs through Judge. A rule of the contract that has no case here does not
// exist for devices: add the case first.
//
// # Operations
//
// An operation is checked by probes: programs of one node, run with awkward shapes on
// replicas of 2, 0, 3 and 1 rows. The results are compared with the results of ref: by
// their bits where the table of operations defines them, else within the probe's tolerance
// (docs/numerics.md, section 5). Then the program is run with each replica alone, and
// with no replica. If the device has the feature deterministic, a replica must have the
// same bits alone as among others.
//
// # Classes
//
// A device that claims class.FMA (Info.Kernels) has promised bits. Its results are
// compared, bit by bit, with the results of ref when it runs the definitions of the
// class, and additional cases run every algorithm that class.Choose returns. Any
// NaN equals any other; the sign of zero counts. A device that claims class.Ref is
// compared with ref by bits, at every precision. The classes class.Generic and
// class.AMX belong to the device cpu; any other name is a private class of the device.
//
// # Precisions
//
// All cases run at each precision that the device has, and are compared with ref
// at the same precision. At device.BF16 a stored result must consist of bfloat16s. It may
// differ by one rounding more than at F32; most elements must be rounded to the nearest.
// Where a device may or may not store intermediate values, in chains of
// operations and in training, it may be twice as far from ref as ref at F32 is.
//
// If a device lacks an operation, the first case of the operation checks that Load refuses
// the program as the contract requires, and Result.Lacks names the operation. Its other cases
// are left out, and so are cases of classes that the device does not claim. The caller decides
// which operations a device must have. A device may also refuse some nodes of an
// operation that it has, for example convolutions with groups, except for those that mlp-bn
// and lenet-bn need: Result.Refused.
//
// # Devices that hang, or die
//
// The time limit of a call in a case is a quarter of WithPatience, 15 s by default, and the
// limit of Load is four times as long. A device that exceeds it breaks the rule that calls are
// answered, whatever its case checks (Result.Rule). After three cases in which the device was
// lost, or did not answer, a judgement ends (Report.Stopped). One opened device serves many
// of the cases that check results; each of the others opens a new device.
package devicetest
