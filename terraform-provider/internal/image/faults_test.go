// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

func TestAccImageCannotBeRead(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	nobody := away(t)
	cli := acctest.NewCLI(t, config(s.URL, ""))
	cli.Apply() // a state file, so that it can stay as it is
	for want, body := range map[string]string{
		"Image i is invalid .* its index is damaged": declare("i",
			site+"/bad/flip_in_index.raw.zst"),
		"Image i is invalid .* its trailer has version 2, 1 is read": declare("i",
			site+"/bad/version_2_trailer.raw.zst"),
		"Image i is invalid .* does not end as an image: cut off": declare("i",
			site+"/bad/cut_by_a_byte.raw.zst"),
		"Image i cannot be read from its URLs .* connection refused .* set digest, bytes and": declare("i", nobody),
		"Image i cannot be read from its URLs .* answered 404 Not Found": declare("i",
			site+"/none"),
		"bytes is declared as 5120, but is 8388608 at its URLs": declare("i",
			site+"/ok/gaps.raw.zst", "bytes = 5120"),
		"digest is declared as sha256:4.*3, but is sha256:[^4].* at its": declare("i",
			site+"/ok/one_chunk.raw.zst", given[0]),
		"want http://HOST/PATH or https":     declare("i", "ftp://a/i"),
		"must be a-z 0-9 . _ -, at most 128": declare("I", nobody),
		"must be 64 bytes in base64": declare("i", nobody,
			`statement = "y"`, `signature = "x"`),
		"must be sha256: and 64 of": declare("i", nobody,
			`digest = "x"`),
	} {
		cli.Write(config(s.URL, body))
		cli.Fails(want, "apply", "-auto-approve")
		isNotRegistered(t, s, "i")
	}
}

func TestAccImageIsReadAtTheNextURL(t *testing.T) {
	s := acctest.Start(t)
	site, asked := publish(t)
	body := strings.Replace(declare("i", away(t)), `"]`, `", "`+site+`/ok/gaps.raw.zst"]`, 1)
	cli := acctest.NewCLI(t, config(s.URL, body))
	if out := acctest.Flat(cli.Apply()); !strings.Contains(out, "Image i is missing at some of its URLs") ||
		asked.Load() != 1 {
		t.Errorf("%d requests\n%s", asked.Load(), out)
	}
	cli.Empty()
}

func TestAccNameIsTaken(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	s.Register("i")
	cli := acctest.NewCLI(t, config(s.URL, ""))
	cli.Apply() // a state file, so that it can stay as it is
	cli.Write(config(s.URL, declare("i", site+"/ok/gaps.raw.zst")))
	cli.Fails("The name i is taken .* another content gets another name .* has digest "+gapsDigest+".* import it "+
		"with the ID \"i\"", "apply", "-auto-approve")
	forget(t, s, "i")
	cli.Apply()

	// The same again is no conflict, so two states may hold the same image.
	second := acctest.NewCLI(t, config(s.URL, declare("i", site+"/ok/gaps.raw.zst")))
	if out := second.Apply(); !strings.Contains(out, "was registered already, with the same content") {
		t.Error(out)
	}
	second.Must("destroy", "-auto-approve")
	cli.Must("destroy", "-auto-approve", "-refresh=false") // gone already: that is success
}

func TestAccBoundImageStays(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	v1, v2 := declare("v1", site+"/ok/gaps.raw.zst"), declare("v2", site+"/ok/one_chunk.raw.zst")
	cli := acctest.NewCLI(t, config(s.URL, v1))
	cli.Apply()
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1", Image: "v1"})
	const want = "Image v1 is in use .* bound to node n1 .* Bind the machine to another image.* " +
		"create_before_destroy = true"
	cli.Fails(want, "destroy", "-auto-approve")
	cli.Write(config(s.URL, v2))
	cli.Fails(want, "apply", "-auto-approve")
	isNotRegistered(t, s, "v2")

	// The way that the message tells: the new one comes first, then the binding moves.
	cli.Write(config(s.URL, strings.Replace(v2, "}\n", "  lifecycle { create_before_destroy = true }\n}\n", 1)))
	if out := cli.Run("apply", "-auto-approve"); out.Code == 0 ||
		!strings.Contains(acctest.Flat(out.Text), "Image v1 is in use") {
		t.Errorf("exit code %d\n%s", out.Code, out.Text)
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "v2"})
	cli.Apply()
	isNotRegistered(t, s, "v1")
	cli.Empty()
}

func TestAccPlanIsStale(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	url := site + "/ok/gaps.raw.zst"
	cli := acctest.NewCLI(t, config(s.URL, declare("i", url)))
	cli.Apply()
	cli.Write(config(s.URL, declare("i", url, signedBy("i", signature))))
	cli.Must("plan", "-out=saved")
	sign(t, s, "i", another)
	cli.Fails("Changed since the plan was made: could not change image i .* Nothing was written", "apply", "saved")
	if image, err := s.Client().Image(t.Context(), "i"); err != nil || image.Signature != another {
		t.Errorf("signature %s, %v", image.Signature, err)
	}
	cli.Apply()
	cli.Empty()
	cli.Must("plan", "-destroy", "-out=saved")
	sign(t, s, "i", another)
	cli.Fails("Changed since the plan was made: could not delete image i", "apply", "saved")
	cli.Must("destroy", "-auto-approve")
}

func TestAccImageIsRegisteredAnew(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	url := site + "/ok/gaps.raw.zst"
	cli := acctest.NewCLI(t, config(s.URL, declare("i", url)))
	cli.Apply()
	forget(t, s, "i")
	spec := api.ImageSpec{Name: "i", URLs: []string{url}, Digest: "sha256:" + strings.Repeat("8f", 32),
		Bytes: 8 << 20, FileBytes: 1283, UsedBytes: 425984}
	if _, err := s.Client().PutImage(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if out := acctest.Flat(cli.Must("plan")); !strings.Contains(out,
		"Image i was registered again with other content") || !strings.Contains(out, "8f8f8f") {
		t.Error(out)
	}
}

func TestAccSleddIsBroken(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	url := site + "/ok/gaps.raw.zst"
	proxy := acctest.NewProxy(t, s.URL)
	signed := config(proxy.URL, declare("i", url, signedBy("i", signature)))
	cli := acctest.NewCLI(t, config(proxy.URL, ""))
	cli.Apply() // a state file, so that it can stay as it is
	cli.Write(config(proxy.URL, declare("i", url)))
	for _, fault := range acctest.Faults() {
		proxy.Break(http.MethodPut, "/v1/images/i", fault)
		cli.Fails("register image i|the JSON of this API|sledd is unreachable", "apply", "-auto-approve")
	}
	proxy.Mend()
	cli.Apply()
	for _, fault := range acctest.Faults() {
		proxy.Break(http.MethodGet, "/v1/images/i", fault)
		cli.Write(config(proxy.URL, declare("i", url)))
		cli.Fails("read image i", "plan")
		cli.Write(signed)
		proxy.Break(http.MethodPut, "/v1/images/i", fault)
		cli.Fails("change image i", "apply", "-auto-approve")
		proxy.Break(http.MethodDelete, "/v1/images/i", fault)
		cli.Fails("delete image i", "destroy", "-auto-approve")
	}
	proxy.Mend()
	s.Stop()
	cli.Fails("sledd is unreachable", "plan")
	s.Resume()
	cli.Must("destroy", "-auto-approve")
	isNotRegistered(t, s, "i")
}
