// Package fleet opens the devices of a run by their names: "2xcpu", "cuda:0", "auto", a
// plugin's name. It finds and starts their plugins, shares the cores among CPU devices,
// reopens a lost device, and closes all of them.
//
// Use it whenever a program trains or predicts. Packages train and predict accept a Fleet
// and do the work on its devices. A fleet serves one run at a time.
//
// CPU devices are processes of the program itself, so that the death of one affects only
// that device. A main function therefore calls Serve before anything else.
package fleet
