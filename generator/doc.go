// Package generator writes a typed status patcher for each Kubernetes API type that a marker asks for.
//
// It goes one way, a file or two a step:
//
//	scan     which directories the patterns name, and which of them hold markers
//	load     the packages that hold them, pruned to the types that their statuses are made of
//	collect  the markers and the kinds that they ask for
//	model    what the templates are told of a kind: its names, its equality, its shape
//	render   the text of each file
//	write    all the files, or none
package generator
