package buildversion

import (
	"runtime/debug"
	"testing"
)

func TestReleased(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	for _, row := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"installed at a version", debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0"},
		{"installed at a commit", debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20260101000000-0123456789ab"}}, "v0.1.1-0.20260101000000-0123456789ab"},
		{"built from a checkout of a tag", debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: revision}, ""},
		{"built from a checkout without its history", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, ""},
	} {
		if got := released(&row.info); got != row.want {
			t.Errorf("%s: %q, expected %q", row.name, got, row.want)
		}
	}
}
