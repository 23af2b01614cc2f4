package buildversion

import (
	"runtime/debug"
	"testing"
)

func TestLine(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, row := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"installed at a version", debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.1.0"}}, "tool v0.1.0 (go1.26.0)"},
		{"built from a checkout", debug.BuildInfo{
			GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.1.1-0.20260101000000-0123456789ab"},
			Settings: []debug.BuildSetting{setting("vcs.revision", "0123456789abcdef"), setting("vcs.modified", "false")},
		}, "tool v0.1.1-0.20260101000000-0123456789ab (revision 0123456789abcdef, go1.26.0)"},
		{"built from a checkout that was edited", debug.BuildInfo{
			GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{setting("vcs.revision", "0123456789abcdef"), setting("vcs.modified", "true")},
		}, "tool (devel) (revision 0123456789abcdef, modified, go1.26.0)"},
		{"built without modules", debug.BuildInfo{GoVersion: "go1.26.0"}, "tool (devel) (go1.26.0)"},
	} {
		if got := line("tool", &row.info); got != row.want {
			t.Errorf("%s: %q, expected %q", row.name, got, row.want)
		}
	}
}
