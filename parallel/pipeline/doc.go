// Package pipeline runs a network that is divided into stages on several devices. Package stage
// divides the programs, and this package runs the parts: it sends values from stage to stage, and repeats
// calls when devices are lost. Use parallel.OpenStaged and parallel.OpenPipeline to run stages on real
// devices, and this package to run them on devices of another kind.
//
//	Trainer     trains, and has the state       trainer.go call.go measure.go move.go adopt.go
//	Predictor   predicts with a stream of rows  predictor.go wave.go
//	flow        one batch through all stages    flow.go turns.go
//	stageRanks  stages in several processes     ranks.go post.go
//
// # Owner
//
// The package knows devices only through three interfaces. An Owner opens a Stage, which is a part of the
// program on some devices. A Column is a device of a stage. The columns of a stage share the replicas; a
// stage handles the loss of a column by itself, and the Trainer the loss of all columns.
//
// # Schedule
//
// The rows of a replica are a micro-batch. They flow forward through the stages and backward again, one
// forward one backward, with a flush at the end of the step (PipeDream-Flush; Narayanan et al. 2021). A
// column has at most stage.UnderWay replicas in progress:
//
//	stage 1   F0 F1 F2    B0 F3 B1    B2    B3   sum
//	stage 2      F0 B0 F1 B1 F2 B2 F3 B3         sum
//
// With synchronised batch norm all replicas of a column are one run. A prediction has waves of rows instead
// of replicas.
//
// # States of a call
//
// A call of a Trainer ends when all stages of all ranks have finished it, or when it has failed on all
// ranks:
//
//	         +--------------- again ---+------------------------+
//	         v                         |                        |
//	ready -> attempt ------------> conclude -> roll back -> replay
//	  ^      |     |               ^   |  |    ^
//	  |      |     +--> recover ---+   |  |    |
//	  |      |                         |  +--> move
//	  +------+---------- done ---------+
//
//	attempt, conclude, move, roll back, replay -- an error --> failed
//
// The table has all transitions. The functions begin, enter and end of Trainer make them:
//
//	state      event                                                next
//	ready      a method is called                                   attempt
//	attempt    all stages here are done, or a rank cancelled it     conclude
//	attempt    a stage has lost a device in a step                  recover
//	attempt    a call inside it has failed                          failed
//	attempt    it is not repeated, as a rollback has done it        ready
//	recover    the stage can run again, or it cannot                conclude
//	conclude   all ranks are done                                   ready
//	conclude   a rank has to repeat the call                        attempt
//	conclude   a stage has no devices left                          move
//	conclude   a stage has only new devices, with the snapshot      roll back
//	conclude   an error of a rank                                   failed
//	move       a neighbour has loaded the layers, at the snapshot   roll back
//	move       one more stage has no devices left                   move
//	move       no neighbour can load them                           failed
//	roll back  all stages are at the snapshot                       replay
//	roll back  a call inside it has rolled back and replayed        attempt
//	roll back  an error of a rank                                   failed
//	replay     the ledger's steps are repeated                      attempt
//	replay     a step cannot be repeated                            failed
//
// The writes, steps and commits of a rollback and of a replay are calls themselves, and go through the same
// states, as does the gradient norm of a commit. The outer call keeps its state meanwhile.
//
// A rank learns the events of the others from their reports (stageRanks.agree), so that all ranks go
// through the same states. After a failed call the next one begins as in ready.
//
// # State between calls
//
//	           Step                       Commit
//	┌───────┐ ──────────────> ┌─────────┐ ──────────────> ready, one version later
//	│ ready │                 │ stepped │
//	└───────┘                 └─────────┘
//
//	state     each stage
//	ready     at the Version of the Trainer
//	stepped   at that Version, and Retains the gradients, unless a device joined since: then Commit
//	          repeats the step first
package pipeline
