// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/sled-fleet/sled/sledd/internal/store"
)

// cluster starts an etcd that requires client certificates, as an external one would. Its
// certificate is its own CA.
func cluster(t *testing.T) (endpoint string, pki transport.TLSInfo) {
	t.Helper()
	pki, err := transport.SelfCert(zap.NewNop(), t.TempDir(), []string{"127.0.0.1:0"}, 1, x509.ExtKeyUsageClientAuth)
	if err != nil {
		t.Fatal(err)
	}
	pki.TrustedCAFile, pki.ClientCertAuth = pki.CertFile, true
	config := embed.NewConfig()
	config.Dir, config.LogLevel, config.UnsafeNoFsync = t.TempDir(), "panic", true
	config.ListenClientUrls = []url.URL{{Scheme: "https", Host: freePort(t)}}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = nil
	config.ClientTLSInfo = pki
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	<-server.Server.ReadyNotify()
	return config.ListenClientUrls[0].String(), pki
}

// freePort returns an address that nobody listens at. etcd dials itself by it, so 0 would not do.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func TestClusterWithClientCertificates(t *testing.T) {
	endpoint, pki := cluster(t)
	etcd, err := store.Dial([]string{endpoint}, store.TLS{CA: pki.CertFile, Cert: pki.CertFile, Key: pki.KeyFile})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = etcd.Close() }()
	revision := put(t, etcd, "/tls", "yes", 0)
	snapshot, err := etcd.Read(t.Context(), store.Key("/tls"))
	if err != nil {
		t.Fatal(err)
	}
	if kv, ok := snapshot.One(0); !ok || string(kv.Value) != "yes" || kv.Revision != revision {
		t.Fatalf("read %q at %d, want yes at %d", kv.Value, kv.Revision, revision)
	}
}

func TestClusterRefusesAStranger(t *testing.T) {
	endpoint, pki := cluster(t)
	etcd, err := store.Dial([]string{endpoint}, store.TLS{CA: pki.CertFile})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = etcd.Close() }()
	var unavailable *store.UnavailableError
	if _, err = etcd.Read(t.Context(), store.Key("/tls")); !errors.As(err, &unavailable) {
		t.Fatalf("without a client certificate: got %v, want an UnavailableError", err)
	}
}
