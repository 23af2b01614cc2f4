package main

import "testing"

func TestShares(t *testing.T) {
	rows := []row{
		newRow("a", []site{{Own: true, Verdict: "moved"}, {Own: true, Verdict: "left", Reason: "x"}}),
		newRow("b", []site{{Own: true, Verdict: "moved"}, {Verdict: "left", Reason: "y"}}),
		newRow("d", []site{{Own: true, Verdict: "left", Shape: "clientset", Reason: "z"}}), // has no client.Client
		newRow("c", []site{{Verdict: "left", Reason: "y"}}),                                // writes no kind of its own
	}
	if median, pooled := shares(rows); median != 0.75 || pooled != 2.0/3 {
		t.Errorf("median %v, of all %v", median, pooled)
	}
}
