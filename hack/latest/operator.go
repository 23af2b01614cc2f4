// Package operator imports what operators import, so that go.mod and go.sum have all of it.
package operator

import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/client/fake"

	_ "github.com/statuspatcher/statuspatcher/patcher"
	_ "github.com/statuspatcher/statuspatcher/patcher/metrics"
)
