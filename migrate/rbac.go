package migrate

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gobuffalo/flect"
)

// rbacMarker is a line from which controller-gen makes a rule.
var rbacMarker = regexp.MustCompile(`(?m)^(\s*//\s*\+kubebuilder:rbac:)(.*)$`)

// rbacMarkers adds the verb patch to the markers that allow to write the status of the kinds, where they lack it. It returns the
// new text of each file that changes, and whether there are markers at all.
func rbacMarkers(root string, kinds []string) (changed map[string][]byte, found bool, err error) {
	resources := resourcesOf(kinds)
	changed = map[string][]byte{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != root && (strings.HasPrefix(name, ".") || name == "vendor" || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		after, has := rbacText(text, resources)
		found = found || has
		if !bytes.Equal(after, text) {
			changed[path] = after
		}
		return nil
	})
	return changed, found, err
}

// resourcesOf are the status subresources of the kinds, as markers name them.
func resourcesOf(kinds []string) map[string]bool {
	resources := map[string]bool{}
	for _, k := range kinds {
		resources[strings.ToLower(flect.Pluralize(k))+"/status"] = true
	}
	return resources
}

// rbacText adds the verb to the markers of one file.
func rbacText(text []byte, resources map[string]bool) (after []byte, found bool) {
	after = rbacMarker.ReplaceAllFunc(text, func(line []byte) []byte {
		found = true
		return []byte(withPatch(string(line), resources))
	})
	return after, found
}

// withPatch adds the verb to a marker that lets write one of the resources without it.
func withPatch(line string, resources map[string]bool) string {
	fields := strings.Split(line, ",")
	concerns, verbs := false, -1
	for i, field := range fields {
		if at := strings.LastIndex(field, "resources="); at >= 0 {
			for _, r := range strings.FieldsFunc(field[at+len("resources="):], isListed) {
				concerns = concerns || resources[strings.Trim(r, `"`)]
			}
		}
		if strings.Contains(field, "verbs=") {
			verbs = i
		}
	}
	if !concerns || verbs < 0 {
		return line
	}
	_, list, _ := strings.Cut(fields[verbs], "verbs=")
	writes := false
	for _, v := range strings.FieldsFunc(list, isListed) {
		switch strings.Trim(v, `"`) {
		case "patch", "*":
			return line
		case "update":
			writes = true
		}
	}
	if !writes {
		return line
	}
	if closed, ok := strings.CutSuffix(fields[verbs], "}"); ok {
		fields[verbs] = closed + ";patch}"
	} else {
		fields[verbs] = strings.TrimRight(fields[verbs], " \t\r") + ";patch"
	}
	return strings.Join(fields, ",")
}

func isListed(r rune) bool { return r == ';' || r == '{' || r == '}' || r == ' ' }
