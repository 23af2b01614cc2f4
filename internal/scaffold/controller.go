package scaffold

import (
	"fmt"
	"go/format"
	"strings"
)

// useStatusClient lets the reconciler, and the test that kubebuilder wrote for it, use the StatusClient of the kind. A reconciler that is not
// the one that kubebuilder writes is left alone.
func (p *project) useStatusClient(k *kind) error {
	if strings.Contains(p.files[k.Controller], k.Patchers+".New"+k.Name+"StatusClient") {
		return nil
	}
	edited := false
	p.tryEdit(k.Controller, func(text string) (string, error) {
		changed, err := replaceAll(text, k.inController())
		edited = err == nil
		return changed, err
	})
	if !edited {
		return nil
	}
	p.tryEdit(strings.TrimSuffix(k.Controller, ".go")+"_test.go", func(text string) (string, error) { return replaceAll(text, k.inTest()) })
	return p.race(k)
}

// A replacement replaces a text that must be there once.
type replacement struct{ from, to string }

func (k *kind) inController() []replacement {
	return []replacement{
		k.patchersImport(),
		{"\tScheme *runtime.Scheme\n}\n", "\tScheme *runtime.Scheme\n\n\tstatuses *" + k.Patchers + "." + k.Name + "StatusClient\n}\n"},
		{"req ctrl.Request) (ctrl.Result, error) {\n", "req ctrl.Request) (result ctrl.Result, err error) {\n"},
		{"\t// TODO(user): your logic here\n", k.body()},
		{"\treturn ctrl.NewControllerManagedBy(mgr).\n", "\tr.statuses = " + k.newClient("mgr.GetClient(), mgr.GetAPIReader()") + "\n\treturn ctrl.NewControllerManagedBy(mgr).\n"},
	}
}

func (k *kind) inTest() []replacement {
	return []replacement{
		k.patchersImport(),
		{"Scheme: k8sClient.Scheme(),\n", "Scheme: k8sClient.Scheme(),\n\n\t\t\t\tstatuses: " + k.newClient("k8sClient, k8sClient") + ",\n"},
	}
}

func (k *kind) patchersImport() replacement {
	api := fmt.Sprintf("\t%s %q\n", k.Alias, k.Package)
	return replacement{api, api + fmt.Sprintf("\t%q\n", k.Package+"/"+k.Patchers)}
}

func (k *kind) newClient(arguments string) string {
	return fmt.Sprintf("%s.New%sStatusClient(%s)", k.Patchers, k.Name, arguments)
}

// body is where kubebuilder has a place for the logic.
func (k *kind) body() string {
	name := strings.ToLower(k.Name)
	logic := fmt.Sprintf("\t_ = %s // TODO(user): your logic here\n", name)
	if k.Conditions {
		logic = fmt.Sprintf(`	// TODO(user): your logic here
	status.SetCondition(metav1.Condition{
		Type: "Available", Status: metav1.ConditionUnknown, Reason: "Reconciling", Message: "reconciling " + %s.Name,
	})
`, name)
	}
	return fmt.Sprintf(`	%s, status, err := r.statuses.Fetch(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// Writes what has changed in the status, unless somebody else has written the object since it was fetched.
	defer status.FlushOnReturn(ctx, &result, &err)

%s`, name, logic)
}

func replaceAll(text string, replacements []replacement) (string, error) {
	for _, r := range replacements {
		if n := strings.Count(text, r.from); n != 1 {
			return "", fmt.Errorf("expected the code that kubebuilder v4 writes, with %q once, but it is there %d times: see docs/getting-started.md for what to change", strings.TrimSpace(r.from), n)
		}
		text = strings.Replace(text, r.from, r.to, 1)
	}
	if strings.Contains(text, "metav1.Condition{") && !strings.Contains(text, "metav1 \"") {
		text = strings.Replace(text, "\t\"k8s.io/apimachinery/pkg/runtime\"\n", "\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"k8s.io/apimachinery/pkg/runtime\"\n", 1)
	}
	formatted, err := format.Source([]byte(text))
	return string(formatted), err
}
