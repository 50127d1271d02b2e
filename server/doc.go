// Package server answers inference requests for models, with the bits that
// package predict gives: over HTTP in the Open Inference Protocol, version 2.
// Requests that wait while the devices compute are the next batch, which
// changes no answer.
//
// Use it to put a model behind an address, from a command or inside a program
// of your own: Open loads the models and listens, Serve answers until its
// context ends and everything that was accepted is answered. Who only wants
// predictions in the same process uses package predict.
//
// Package server/protocol has the bodies of requests and answers,
// server/batching the queue.
package server
