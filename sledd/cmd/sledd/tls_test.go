// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.uber.org/zap"

	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// TestServeWithoutNginx serves TLS itself: a client that trusts the certificate is answered, one that does not is not.
func TestServeWithoutNginx(t *testing.T) {
	dir, address := t.TempDir(), freeAddress(t)
	pki, err := transport.SelfCert(zap.NewNop(), dir, []string{address}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	root := command()
	root.SetArgs([]string{"--listen", address, "--data-dir", filepath.Join(dir, "etcd"), "--boot-url", "http://10.77.0.1",
		"--tls-cert", pki.CertFile, "--tls-key", pki.KeyFile, "--log-level", "error"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	trust := transport.TLSInfo{TrustedCAFile: pki.CertFile}
	config, err := trust.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}, Timeout: patience.Limit}
	patience.Until(t, "it answers over TLS", func() bool { return healthy(t, client, address) })
	if healthy(t, &http.Client{Timeout: patience.Limit}, address) {
		t.Error("a client without the CA took the answer")
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func healthy(t *testing.T, client *http.Client, address string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode == http.StatusOK
}
