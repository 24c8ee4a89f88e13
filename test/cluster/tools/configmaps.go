package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// accountDir is where Kubernetes mounts the service account of a pod.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

func configMapsCommand() *cobra.Command {
	var count int
	var prefix string
	cmd := &cobra.Command{
		Use: "configmaps", Short: "Make numbered ConfigMaps in the pod's own namespace, one after the other", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := ownAccount()
			if err != nil {
				return err
			}
			for i := range count {
				if err := a.createConfigMap(cmd.Context(), fmt.Sprintf("%s-%d", prefix, i)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&count, "count", 1, "ConfigMaps")
	cmd.Flags().StringVar(&prefix, "prefix", "number", "what their names begin with")
	return cmd
}

// account accesses the API server as the pod's service account.
type account struct {
	client                *http.Client
	url, token, namespace string
}

func ownAccount() (*account, error) {
	read := func(name string) (string, error) {
		data, err := os.ReadFile(filepath.Join(accountDir, name))
		return strings.TrimSpace(string(data)), err
	}
	token, tokenErr := read("token")
	namespace, namespaceErr := read("namespace")
	ca, caErr := read("ca.crt")
	if err := errors.Join(tokenErr, namespaceErr, caErr); err != nil {
		return nil, fmt.Errorf("looking for the service account of this pod: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(ca))
	return &account{
		client:    &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}},
		url:       "https://" + net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")),
		token:     token,
		namespace: namespace,
	}, nil
}

func (a *account) createConfigMap(ctx context.Context, name string) error {
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/api/v1/namespaces/"+a.namespace+"/configmaps", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusCreated {
		err = fmt.Errorf("making ConfigMap %s: the API server answers %s: %s", name, resp.Status, answer)
	}
	return err
}
