package generator

import "testing"

// TestJudge: slips are found wherever they are, and what other tools and people write is left alone.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		want  verdict
		lines []string
	}{
		{ok, []string{"+statuspatcher:generate=true", "+statuspatcher:genrate=true", "+statuspatcher: generate=true", "+statuspatcher:"}},
		{misspelt, []string{
			"+stauspatcher:generate=true", "+statuspacther:generate=true", "+statuspatchergen=true", "+status:patcher:generate=true",
			"+statuspatcher", "+statuspatcher generate=true", "+ statuspatcher:generate=true", "+Statuspatcher:generate=true",
			"+STATUSPATCHER:GENERATE=TRUE", "+status-patcher:generate=true", "+status_patcher:generate", "+status.patcher:generate=true",
			"+statuspatch:generate=true", "+statuspatchers:generate=true", "+statspatcher:generate=true", "+satuspatcher:generate=false",
			"+tatuspatcher:generate=true", "+sttauspatcher:generate=true", "+statuspathcer:generate=true", "+statuspatcher-gen:generate=true",
			"+kubebuilder:statuspatcher:generate=true", "+kubebuilder:status:patcher=true", "+k8s:statuspatcher=true", "+statupatcer:generate=true",
			"+xstatuspatcher:generate=true", "+statuspatcher=true", "+status patcher:generate=true",
			"statuspatcher:generate=true", "statuspatcher:generate", "statuspatcher: generate=true", "stauspatcher:generate=true",
		}},
		{none, []string{
			"", "+", "+optional", "+kubebuilder:subresource:status", "+kubebuilder:object:root=true", "+patchStrategy=merge", "+patchMergeKey=type",
			"+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas", "+statusPatchStrategy=merge", "+statuspath=x",
			"+statusCheck=true", "+genclient:onlyVerbs=updateStatus", "statuspatcher: this kind is the founder's", "statuspatcher is a tool: see its docs",
			"statuspatcher: see https://example.com/a=b", "+ status patches are sent by another controller", "+1 for the status patcher", "status: a map", "https://example.com",
			"the marker is statuspatcher:generate=true",
		}},
	} {
		for _, line := range tt.lines {
			if got := judge(line); got != tt.want {
				t.Errorf("judge(%q) is %d, want %d", line, got, tt.want)
			}
			source := []byte("package v1\n\n// " + line + "\ntype A struct{}\n")
			if got := maybeMarked(source); got != (tt.want != none) {
				t.Errorf("a file with %q is read: %v", line, got)
			}
		}
	}
}

// TestDistance counts slips.
func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"abc", "abc", 0}, {"abc", "", 3}, {"", "ab", 2}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "xabc", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
