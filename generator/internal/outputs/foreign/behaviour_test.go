package foreign

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/hack/corpus/behaviour"
)

func TestBehaviour(t *testing.T) {
	behaviour.Check(t, DeploymentKind, func(c client.Client) behaviour.Fetch[*appsv1.Deployment, *DeploymentStatusPatcher] {
		return NewDeploymentStatusClient(c, c).Fetch
	})
	behaviour.Check(t, NodeKind, func(c client.Client) behaviour.Fetch[*corev1.Node, *NodeStatusPatcher] {
		return NewNodeStatusClient(c, c).Fetch
	})
	behaviour.Check(t, PodKind, func(c client.Client) behaviour.Fetch[*corev1.Pod, *PodStatusPatcher] {
		return NewPodStatusClient(c, c).Fetch
	})
}
