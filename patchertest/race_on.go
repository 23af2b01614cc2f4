//go:build race

package patchertest

// raceDetector tells that the test was built with -race.
const raceDetector = true
