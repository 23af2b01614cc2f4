package migrate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestCulprits(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	for _, bad := range [][]string{nil, {"a"}, {"e"}, {"b", "d"}, all} {
		tries := 0
		found, err := culprits(all, func(moved []string) (string, error) {
			tries++
			for _, m := range moved {
				if slices.Contains(bad, m) {
					return "broken by " + m, nil
				}
			}
			return "", nil
		})
		got := slices.Sorted(maps.Keys(found))
		if err != nil || !slices.Equal(got, bad) {
			t.Errorf("found %v, %v after %d tries, expected %v", found, err, tries, bad)
		}
	}
	t.Run("moves that fail only together all stay", func(t *testing.T) {
		found, err := culprits(all, func(moved []string) (string, error) {
			if slices.Contains(moved, "a") && slices.Contains(moved, "e") {
				return "together", nil
			}
			return "", nil
		})
		if err != nil || len(found) != len(all) {
			t.Errorf("found %v, %v", found, err)
		}
	})
	t.Run("an error ends the search", func(t *testing.T) {
		failed := errors.New("no tests")
		if _, err := culprits(all, func([]string) (string, error) { return "", failed }); !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
	})
}

func TestWorse(t *testing.T) {
	event := func(action, test, output string) string {
		return fmt.Sprintf(`{"Action":%q,"Package":"p","Test":%q,"Output":%q}`, action, test, output)
	}
	before := parseOutcomes([]byte(strings.Join([]string{event("pass", "TestA", ""), event("pass", "TestA/sub", ""), event("fail", "TestB", ""), event("pass", "", "")}, "\n")))
	after := parseOutcomes([]byte(strings.Join([]string{"FAIL\tp [build failed]", event("output", "TestA/sub", "    a_test.go:7: got x\n"), event("fail", "TestA/sub", ""), event("fail", "TestA", ""), event("fail", "TestB", ""), event("fail", "", "")}, "\n")))
	broken := worse(before, after)
	if len(broken) != 3 || broken[0].test != "TestA/sub" {
		t.Fatalf("%v: expected the innermost test first, and not the one that failed before", broken)
	}
	if got, want := after.why(broken), "the move changes the result of TestA/sub: a_test.go:7: got x"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if none := worse(before, before); len(none) != 0 {
		t.Errorf("%v: nothing has changed", none)
	}
}
