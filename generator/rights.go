package generator

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// patcherNames finds the kinds whose generated types a file names.
var patcherNames = regexp.MustCompile(`(?:New)?(\w+?)Status(?:Client|Patcher)\b`)

// A right is what a patcher needs to be allowed: verbs on a resource of an API group.
type right struct {
	kind, group, resource string
	verbs                 []string
}

// String is the marker that controller-gen rbac makes a rule of.
func (r right) String() string {
	group := r.group
	if group == "" {
		group = `""`
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, r.resource, strings.Join(r.verbs, ";"))
}

// rightsOf are those that the patcher of a kind needs, but for PatchMetadata's.
func rightsOf(kind, group string, marks []line) []right {
	plural := strings.ToLower(flect.Pluralize(kind))
	for _, l := range marks {
		if resource, ok := strings.CutPrefix(l.text, "+kubebuilder:resource:"); ok {
			for argument := range strings.SplitSeq(resource, ",") {
				if path, ok := strings.CutPrefix(argument, "path="); ok {
					plural = strings.Trim(path, `"`)
				}
			}
		}
	}
	return []right{
		{kind: kind, group: group, resource: plural, verbs: []string{"get"}},
		{kind: kind, group: group, resource: plural + "/status", verbs: []string{"get", "patch"}},
	}
}

// groupOf is the API group that a package's markers name.
func (s *source) groupOf() (group string, known bool) {
	for _, file := range s.files {
		for _, l := range lines(packageGroups(file.File)...) {
			for _, name := range []string{"+groupName=", "+kubebuilder:groupName=", "+k8s:groupName="} {
				if group, ok := strings.CutPrefix(l.text, name); ok {
					return strings.Trim(group, `"`), true
				}
			}
		}
	}
	return "", false
}

// noteRights compares the module's RBAC markers with what the patchers need, and prints the markers that are missing: else
// the first deployment fails with 403. A module without such markers has its roles elsewhere.
func (g *generation) noteRights(out io.Writer) error {
	if len(g.rights) == 0 {
		return nil
	}
	granted := &grants{used: map[string]bool{}, patchesMetadata: map[string]bool{}}
	for _, root := range g.controllerModules() {
		if err := granted.read(root); err != nil {
			return err
		}
	}
	if len(granted.rules) == 0 && g.RBAC != "strict" {
		return nil
	}
	var missing []string
	for _, r := range g.rights {
		if !granted.concern(r) {
			continue
		}
		if !strings.HasSuffix(r.resource, "/status") && granted.patchesMetadata[r.kind] {
			r.verbs = []string{"get", "patch"}
		}
		if r.verbs = granted.missing(r); len(r.verbs) > 0 {
			missing = append(missing, "  "+r.String()+"\n")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	if g.RBAC == "strict" {
		g.faults.add("the patchers need permissions that no RBAC marker of this module grants; add these markers beside the others:\n%s", strings.TrimSuffix(strings.Join(slices.Compact(missing), ""), "\n"))
		return g.faults.err()
	}
	_, err := fmt.Fprintf(out, "note: the patchers need permissions that no RBAC marker of this module grants; add these markers beside the others:\n%s", strings.Join(slices.Compact(missing), ""))
	return err
}

// controllerModules are the roots of the modules that controllers may be in: those of the API packages, the one that the command runs
// in, and that of output:dir=.
func (g *generation) controllerModules() []string {
	roots := sortedKeys(g.modules)
	dirs := []string{g.faults.dir}
	if g.OutputDir != "" {
		dirs = append(dirs, existing(g.OutputDir))
	}
	for _, dir := range dirs {
		if root := moduleRoot(dir); root != "" {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// grants are the RBAC markers of a module.
type grants struct {
	rules []rbac.Rule
	// used are the kinds whose generated types are used, and patchesMetadata those of them whose PatchMetadata is called, as
	// far as text can tell.
	used, patchesMetadata map[string]bool
}

func (gr *grants) read(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != root && (skipped(entry.Name()) || nested(path)) {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil && !ours(content) {
			gr.add(content)
		}
		return nil
	})
}

func (gr *grants) add(content []byte) {
	gr.addUses(content)
	if !bytes.Contains(content, []byte("+kubebuilder:rbac:")) {
		return
	}
	for raw := range bytes.Lines(content) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "//")
		text := strings.TrimSpace(comment)
		if !ok || !strings.HasPrefix(text, "+kubebuilder:rbac:") {
			continue
		}
		if rule, err := rbac.RuleDefinition.Parse(text); err == nil {
			gr.rules = append(gr.rules, rule.(rbac.Rule))
		}
	}
}

// addUses takes every patcher that a file names for one that it uses.
func (gr *grants) addUses(content []byte) {
	if !bytes.Contains(content, []byte("StatusClient")) && !bytes.Contains(content, []byte("StatusPatcher")) {
		return
	}
	metadata := bytes.Contains(content, []byte(".PatchMetadata("))
	for _, match := range patcherNames.FindAllSubmatch(content, -1) {
		gr.used[string(match[1])] = true
		if metadata {
			gr.patchesMetadata[string(match[1])] = true
		}
	}
}

// concern tells whether the module's controllers write the status of a kind: they use its patcher, or have rules for its status.
// Rules for the rest of the object are no sign of that.
func (gr *grants) concern(r right) bool {
	if gr.used[r.kind] {
		return true
	}
	resource, _, _ := strings.Cut(r.resource, "/")
	return slices.ContainsFunc(gr.rules, func(rule rbac.Rule) bool {
		writes := covers(rule.Verbs, "update") || covers(rule.Verbs, "patch")
		return writes && slices.Contains(rule.Groups, r.group) && slices.Contains(rule.Resources, resource+"/status")
	})
}

// missing are the verbs of a right that no rule grants.
func (gr *grants) missing(r right) []string {
	var out []string
	for _, verb := range r.verbs {
		granted := slices.ContainsFunc(gr.rules, func(rule rbac.Rule) bool {
			return len(rule.ResourceNames) == 0 && covers(rule.Groups, r.group) && coversResource(rule.Resources, r.resource) && covers(rule.Verbs, verb)
		})
		if !granted {
			out = append(out, verb)
		}
	}
	return out
}

func covers(granted []string, want string) bool {
	return slices.Contains(granted, want) || slices.Contains(granted, "*") || want == "" && slices.Contains(granted, "core")
}

func coversResource(granted []string, want string) bool {
	_, subresource, _ := strings.Cut(want, "/")
	return covers(granted, want) || subresource != "" && slices.Contains(granted, "*/"+subresource)
}
