// Package limits holds every point at which the analysis stops looking, with the reason. Beyond a limit a question stays
// open: a class becomes unknown or the milder one, and a fix is not made.
package limits

const (
	// Trace is how many steps a value is followed back to its source. Real code takes up to eight; the rest is room.
	Trace = 14
	// Frames is how many calls deep the results of functions are followed within one trace. Each level multiplies the
	// ways by the returns of the function.
	Frames = 5
	// Path is how many aliases and fields the name of an object may go through.
	Path = 12
	// HandedOn is how many functions hand a function value on before it is called.
	HandedOn = 3

	// ErrorCallers is how many callers up an error is followed. Reconcile is rarely further away from a write.
	ErrorCallers = 4
	// States bounds what is looked at in one function: blocks, each with what is known when control enters it. Functions of
	// real operators take up to some hundreds.
	States = 4096
	// ErrorCallees is how many functions deep it is followed what one makes of the errors that it gets.
	ErrorCallees = 3
	// (A write in the body of a loop over a function is not followed at all: the body is a function of its own, whose
	// returns are those of the loop.)

	// Queues is how many functions deep a call is searched for an Add to a work queue.
	Queues = 3

	// TransplantCallers is how many callers up an older status or version is looked for.
	TransplantCallers = 2
	// RetryCallers is how many callers up a retry around a write is looked for.
	RetryCallers = 2
	// LookedInto is how many functions deep a retry is searched for another write that can conflict.
	LookedInto = 3
	// Slice is how many steps the bytes of a patch are followed back.
	Slice = 12
	// Wrapped is how many functions deep a wrapper that the user names is searched for its writes.
	Wrapped = 3
	// Copies is how many copies of copies the source of an object is followed through.
	Copies = 6
	// Fills is how many functions deep it is asked whether one gives an object a resourceVersion.
	Fills = 4

	// FreshCallers is how many callers up the read of an object is looked for before a fix is made.
	FreshCallers = 3
)
