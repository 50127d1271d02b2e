// Package wasm tests predictions in WebAssembly: the command, the process, wazero (wasip1) and headless
// Chromium give equal outputs. make test-wasm and make test-page run the tests. The package is a module,
// because bnctl itself does not import wazero.
package wasm
