package realserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// warm asks for every custom resource once. The server sets up their storage at the first request and meanwhile answers
// 429, which clients hide by waiting a second: a test would be slower, and its Recorder would count what nobody asked for.
func warm(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer httpClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if version.Served {
				path := fmt.Sprintf("/apis/%s/%s/%s?limit=1", crd.Spec.Group, version.Name, crd.Spec.Names.Plural)
				group.Go(func() error { return waitFor(ctx, httpClient, strings.TrimSuffix(config.Host, "/")+path) })
			}
		}
	}
	return group.Wait()
}

func waitFor(ctx context.Context, httpClient *http.Client, url string) error {
	var last string
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		resp, err := httpClient.Do(req)
		if err != nil {
			return false, err
		}
		last = resp.Status
		return resp.StatusCode == http.StatusOK, resp.Body.Close()
	})
	if err != nil {
		return fmt.Errorf("expected %s to be served, found %q: %w", url, last, err)
	}
	return nil
}
