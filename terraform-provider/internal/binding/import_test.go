// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// seeded binds n1 with all that an image gets.
func (l *lab) seeded() {
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Hostname: "h.example", UserData: "#cloud-config\n",
		AuthorizedKeys: []string{sshkeys.Alice + " a"}, Mode: "delta", Owner: "terraform"})
	l.sledd.Machine(1).Fulfil()
}

// seed requires what n1 has.
func (l *lab) seed(hostname string, keys int, userData string) {
	l.Helper()
	b := l.sledd.Node(1).Binding
	if userData != "" {
		userData = l.sledd.HashOf(userData)
	}
	if b.Hostname != hostname || len(b.AuthorizedKeys) != keys || b.UserDataSHA256 != userData {
		l.Errorf("n1 has host name %q, %d keys and user data %q, want %q, %d and %q", b.Hostname, len(b.AuthorizedKeys),
			b.UserDataSHA256, hostname, keys, userData)
	}
}

// What an import found and the configuration does not name stays, with each later change, until it is named.
func TestAccImportKeepsTheSeed(t *testing.T) {
	l := start(t)
	l.seeded()
	mode := `mode = "delta"`
	l.declare(n("n1", image("v1"), mode))
	l.Must("import", n1, "n1")
	l.Empty()
	l.seed("h.example", 1, "#cloud-config\n")
	for i, more := range [][]string{{image("v2"), mode}, {image("v2"), `mode = "full"`}, {image("v3"), `mode = "auto"`}} {
		l.declare(n("n1", more...))
		l.hasNot(l.plan(2), "hostname", "authorized_keys", "user_data_sha256", "What was imported")
		l.Apply()
		if i != 1 { // the mode images nothing
			l.sledd.Machine(1).Fulfil()
		}
		l.Empty()
		l.seed("h.example", 1, "#cloud-config\n")
	}
	l.wants(1, "v3", 3)
	rest := []string{image("v3"), `mode = "auto"`}
	l.declare(n("n1", append(rest, `hostname = ""`, "authorized_keys = []", `user_data = ""`)...))
	l.has(l.plan(2), `hostname = "h.example"`, "user_data_sha256")
	l.Apply()
	l.seed("", 0, "")
	l.Empty()
	l.declare(n("n1", append(rest, `hostname = "x"`)...))
	l.Apply()
	l.seed("x", 0, "")
	l.declare(n("n1", rest...))
	l.Apply()
	l.seed("", 0, "")
	l.Empty()
}

// A first change after an import that takes something away says what.
func TestAccImportNamesWhatAChangeDrops(t *testing.T) {
	l := start(t)
	l.seeded()
	l.declare(n("n1", image("v1"), `hostname = "other"`, "authorized_keys = []"))
	l.Must("import", n1, "n1")
	l.has(l.plan(2), `What was imported of n1 is changed: authorized_keys (1), hostname (h.example), mode ("delta")`)
	l.Apply()
	l.seed("other", 0, "#cloud-config\n")
	l.Empty()
}

// What others change of it later is followed, as nobody declares it here.
func TestAccImportFollowsWhatIsStored(t *testing.T) {
	l := start(t)
	l.seeded()
	l.declare(n("n1", image("v1"), `mode = "delta"`))
	l.Must("import", n1, "n1")
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Hostname: "y", UserData: "#cloud-config\n# 2\n", Mode: "delta",
		Owner: "terraform"})
	l.hasNot(l.plan(0), "Somebody else")
	l.declare(n("n1", image("v2"), `mode = "delta"`))
	l.Apply()
	l.seed("y", 0, "#cloud-config\n# 2\n")
}

// Ways that would lose it are refused: a replacement, and a binding that somebody removed.
func TestAccImportIsNotLostOnOtherWays(t *testing.T) {
	l := start(t)
	l.seeded()
	body := []string{image("v1"), `mode = "delta"`}
	l.declare(n("n1", body...))
	l.Must("import", n1, "n1")
	l.Fails("would lose hostname, authorized_keys, user_data.*reimage_trigger", "plan", "-replace="+n1)
	l.unbind(1)
	l.has(l.plan(0), "n1 is not bound any more")
	l.declare(n("n1", append(body, `on_drift = "reimage"`)...))
	l.Fails("The user data of n1 is gone.*Declare user_data", "plan")
	l.declare(n("n1", append(body, `on_drift = "reimage"`, `user_data = ""`)...))
	l.Apply()
	l.seed("h.example", 1, "")
}
