// Package fleet opens the devices of a run by their names: "2xcpu", "cuda:0",
// "auto", a plugin's name. It finds and starts their plugins, shares the cores
// among CPU devices, opens a lost device again, and ends all of them.
//
// Use it whenever a program trains or predicts; what to do on the devices is
// said by packages train and predict, which take a Fleet. A fleet serves one
// run at a time.
//
// CPU devices are processes of the program itself, so that one that dies
// takes nothing with it: a main function calls Serve before anything else.
package fleet
