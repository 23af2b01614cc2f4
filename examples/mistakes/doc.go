// Package mistakes runs one body of tests on both operators: on handwritten-operator each mistake shows, on database-operator it
// does not. It has no code beside its tests.
package mistakes
