package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/statuspatcher/statuspatcher/generator"
	"github.com/statuspatcher/statuspatcher/internal/engine/kube"
	"github.com/statuspatcher/statuspatcher/internal/journal"
	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
	"github.com/statuspatcher/statuspatcher/internal/lint/driver"
)

// ApplyOptions say how a plan is applied.
type ApplyOptions struct {
	// Force goes on though git shows changes that are not committed.
	Force bool
	// Test runs the tests of the packages that change, and of those that import them, before and after, and puts back every move
	// that changes the result of one.
	Test bool
}

// Apply does what the plan says, all of it or nothing: after an error, and after an interruption with the next run, every file is
// as it was. What the generator has to say goes to notes.
func (p *Plan) Apply(o ApplyOptions, notes io.Writer) (err error) {
	root := p.module.Root
	if !o.Force {
		if err := clean(root); err != nil {
			return err
		}
	}
	if err := p.requires(); err != nil {
		return err
	}
	if len(p.moves) == 0 {
		return nil
	}
	var before *outcomes
	pkgs := p.testedPackages()
	if o.Test {
		if before, err = runTests(p.options.Dir, p.options.Tags, pkgs); err != nil {
			return err
		}
	}
	j, err := journal.Begin(root)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.Rollback())
		}
	}()
	if err := p.allowPatch(j, notes); err != nil {
		return err
	}
	if err := p.generate(j, notes); err != nil {
		return err
	}
	if err := p.settle(); err != nil {
		return err
	}
	p.written = map[string][]byte{}
	if err := p.writeChanges(j); err != nil {
		return err
	}
	if o.Test {
		if err := p.putBack(j, before, pkgs, notes); err != nil {
			return err
		}
	}
	if err := p.wrap(j); err != nil {
		return err
	}
	if err := p.stillCompiles(); err != nil {
		return err
	}
	return j.Commit()
}

// Recover puts back what an interrupted run has left, and reports whether there was one.
func Recover(dir string) (bool, error) {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return journal.Recover(root)
		}
		if root == filepath.Dir(root) {
			return false, nil
		}
	}
}

// clean fails if git shows changes that are not committed: they would mix with what is written here.
func clean(root string) error {
	out, err := exec.Command("git", "-C", root, "status", "--porcelain", "--untracked-files=no", "--", ".").Output()
	if err != nil {
		return nil // no git, no changes to mix with
	}
	if lines := strings.TrimSpace(string(out)); lines != "" {
		return fmt.Errorf("git shows changes that are not committed:\n%s\ncommit or stash them, so that this change can be reviewed by itself, or pass -force", lines)
	}
	return nil
}

// requires fails if the module does not require the runtime.
func (p *Plan) requires() error {
	name := filepath.Join(p.module.Root, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	mod, err := modfile.ParseLax(name, text, nil)
	if err != nil {
		return err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == kube.PatcherPath {
			return nil
		}
	}
	return fmt.Errorf("%s does not require the runtime of the patchers: run go get %s@latest, and migrate again", audit.Relative(p.module.Dir, name), kube.PatcherPath)
}

// generate marks the packages of the kinds and runs the generator.
func (p *Plan) generate(j *journal.Journal, notes io.Writer) error {
	for _, a := range p.mover.apis.sorted() {
		if a.exists {
			continue
		}
		dir := p.mover.apis.dirOf(a.patchers, a)
		if err := j.Track(filepath.Join(dir, generated)); err != nil {
			return err
		}
		o := generator.Options{Dir: p.module.Root, Tags: p.options.Tags}
		if a.unmarkable {
			for _, kind := range a.list() {
				o.Types = append(o.Types, a.path+"."+kind)
			}
		} else {
			name, text, err := markPackage(a.dir)
			if err != nil {
				return err
			}
			if name != "" {
				if err := j.Write(name, text); err != nil {
					return err
				}
			}
			o.Paths = []string{"./" + filepath.ToSlash(audit.Relative(p.module.Root, a.dir))}
		}
		if !strings.HasPrefix(a.patchers, a.path+"/") {
			o.OutputDir = dir
		}
		var said bytes.Buffer
		if err := generator.Run(o, io.Discard, &said); err != nil {
			return fmt.Errorf("generating the patchers of %s: %w", a.path, err)
		}
		if _, err := notes.Write(said.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// settle type-checks the rewritten packages in memory, and leaves the writes without which they would not compile.
func (p *Plan) settle() error {
	held := map[string]string{}
	for range 6 {
		broken, err := p.broken()
		if err != nil {
			return err
		}
		if len(broken) == 0 {
			return nil
		}
		before := len(held)
		for _, s := range p.Sites {
			if s.Verdict != Moved {
				continue
			}
			file := p.module.Fset.Position(s.write.Node.Pos()).Filename
			if text := broken[file]; text != "" {
				held[s.At] = "the file would not compile: " + text
			} else if text := broken[s.write.pkg.Types.Path()]; text != "" {
				held[s.At] = "the package would not compile: " + text
			}
		}
		if len(held) == before {
			return fmt.Errorf("the rewritten packages do not compile: %v", broken)
		}
		p.held = held
		p.decide(held)
	}
	return errors.New("the rewritten packages do not compile")
}

// broken are the files, or else the packages, that the changes would break, with the compiler's words.
func (p *Plan) broken() (map[string]string, error) {
	if len(p.Changes) == 0 {
		return nil, nil
	}
	load := driver.Load{Dir: p.options.Dir, Tags: p.options.Tags, Overlay: map[string][]byte{}}
	seen := map[string]bool{}
	for _, c := range p.Changes {
		load.Overlay[c.Name] = c.After
		if !seen[c.pkg] {
			seen[c.pkg] = true
			load.Patterns = append(load.Patterns, c.pkg)
		}
	}
	sort.Strings(load.Patterns)
	again, err := load.Run()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, old := range p.module.Problems {
		known[old.Package] = true
	}
	out := map[string]string{}
	for _, problem := range again.Problems {
		if known[problem.Package] {
			continue
		}
		files := 0
		for _, text := range problem.Errors {
			for _, c := range p.Changes {
				if strings.HasPrefix(text, c.Name+":") {
					out[c.Name] = strings.TrimPrefix(text, c.Name+":")
					files++
				}
			}
		}
		if files == 0 {
			out[problem.Package] = problem.Errors[0]
		}
	}
	return out, nil
}

// wrap gives the managers a client that checks status writes.
func (p *Plan) wrap(j *journal.Journal) error {
	for _, name := range p.setupFiles() {
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		after, err := wrapped(name, src, p.mover.apis.sorted())
		if err != nil {
			return err
		}
		if !bytes.Equal(src, after) {
			if err := j.Write(name, after); err != nil {
				return err
			}
		}
	}
	return nil
}

// setupFiles are the files in which a manager is made, without tests.
func (p *Plan) setupFiles() []string {
	seen := map[string]bool{}
	for _, pkg := range p.module.Program.Packages {
		for _, f := range productionFiles(pkg) {
			name := p.module.Fset.Position(f.Package).Filename
			if len(setups(name, p.mover.src.file(name))) > 0 {
				seen[name] = true
			}
		}
	}
	var out []string
	for name := range seen {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// allowPatch adds the verb patch to the RBAC markers of the moved kinds.
func (p *Plan) allowPatch(j *journal.Journal, notes io.Writer) error {
	changed, found, err := rbacMarkers(p.module.Root, p.kinds())
	if err != nil {
		return err
	}
	for name, text := range changed {
		if err := j.Write(name, text); err != nil {
			return err
		}
	}
	switch {
	case len(changed) > 0:
		_, err = fmt.Fprintln(notes, "the RBAC markers have changed: generate the roles again, as with make manifests")
	case !found:
		_, err = fmt.Fprintln(notes, "there are no RBAC markers: the role of the operator must allow get and patch on the status of "+strings.Join(p.kinds(), ", "))
	}
	return err
}

// kinds are the names of the kinds whose writes are moved.
func (p *Plan) kinds() []string {
	seen := map[string]bool{}
	var out []string
	for _, mv := range p.moves {
		if !seen[mv.kind] {
			seen[mv.kind] = true
			out = append(out, mv.kind)
		}
	}
	sort.Strings(out)
	return out
}

// stillCompiles loads the module as it now is on disk.
func (p *Plan) stillCompiles() error {
	again, err := driver.Load{Dir: p.options.Dir, Patterns: p.options.Patterns, Tags: p.options.Tags}.Run()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, old := range p.module.Problems {
		known[old.Package] = true
	}
	for _, problem := range again.Problems {
		if !known[problem.Package] {
			return problem
		}
	}
	return nil
}
