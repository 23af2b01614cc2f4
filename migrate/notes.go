package migrate

import (
	"fmt"
	"strings"

	"github.com/statuspatcher/statuspatcher/internal/lint/audit"
)

// note writes down the steps that are not about one write.
func (p *Plan) note() {
	p.Wrap, p.APIs = nil, nil
	apis := p.mover.apis.sorted()
	if len(apis) == 0 {
		return
	}
	if err := p.requires(); err != nil {
		p.APIs = append(p.APIs, Note{Text: err.Error()})
	}
	for _, a := range apis {
		kinds := strings.Join(a.list(), ", ")
		switch {
		case a.exists:
			p.APIs = append(p.APIs, Note{Text: fmt.Sprintf("%s has patchers already: %s", a.path, a.patchers)})
		case a.unmarkable:
			p.APIs = append(p.APIs, Note{At: audit.Relative(p.module.Dir, a.dir), Text: fmt.Sprintf("no comment declares a status subresource; generate %s for %s by name", a.patchers, kinds)})
		default:
			p.APIs = append(p.APIs, Note{At: audit.Relative(p.module.Dir, a.dir), Text: fmt.Sprintf("mark the package with %s and generate %s (written here: %s)", strings.TrimPrefix(marker, "// "), a.patchers, kinds)})
		}
	}
	files := p.setupFiles()
	for _, name := range files {
		for _, s := range setups(name, p.mover.src.file(name)) {
			n := Note{At: fmt.Sprintf("%s:%d", audit.Relative(p.module.Dir, name), s.line)}
			switch {
			case s.done:
				n.Text = "the options of this manager have a NewClient already: if it does not wrap the kinds above, add patcher.Wrap to it by hand"
			case s.options < 0:
				n.Text = "the options of this manager are not in sight: set their NewClient by hand, see docs/wrap.md"
			default:
				n.Text = "add NewClient to the options of this manager"
			}
			p.Wrap = append(p.Wrap, n)
		}
	}
	if len(files) == 0 {
		p.Wrap = append(p.Wrap, Note{Text: "no manager is made in these packages: wrap the client where it is made, see docs/wrap.md"})
	}
	changed, found, err := rbacMarkers(p.module.Root, p.kinds())
	switch {
	case err != nil:
		p.Wrap = append(p.Wrap, Note{Text: err.Error()})
	case len(changed) > 0:
		p.Wrap = append(p.Wrap, Note{Text: fmt.Sprintf("add the verb patch to the RBAC markers of the status in %d files", len(changed))})
	case !found:
		p.Wrap = append(p.Wrap, Note{Text: "there are no RBAC markers: the role of the operator must allow get and patch on the status of " + strings.Join(p.kinds(), ", ")})
	}
}
