// SPDX-License-Identifier: Apache-2.0

package acctest_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const function = `output "mac" { value = provider::sled::mac("52-54-00-77-00-0A") }`

func TestAccFunctionMAC(t *testing.T) {
	acctest.Start(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{
				Config:            function,
				Check:             resource.TestCheckOutput("mac", "52:54:00:77:00:0a"),
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{acctest.NoSecret{"hush"}}},
				ConfigStateChecks: []statecheck.StateCheck{acctest.NoSecret{"hush"}},
			},
			{Config: `output "mac" { value = provider::sled::mac("n1") }`,
				ExpectError: regexp.MustCompile(`"n1" is not a MAC: want six`)},
		},
	})
}

func TestAccNoSecretFindsOne(t *testing.T) {
	acctest.Start(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{
				Config: function,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{acctest.NoSecret{"77:00:0a"}}},
				ExpectError: regexp.MustCompile(`the plan holds the secret "77:00:0a"`),
			},
			{
				Config:            function,
				ConfigStateChecks: []statecheck.StateCheck{acctest.NoSecret{"77:00:0a"}},
				ExpectError:       regexp.MustCompile(`the state holds the secret "77:00:0a"`),
			},
		},
	})
}

func TestAccCLI(t *testing.T) {
	s := acctest.Start(t)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), function))
	cli.Must("init")
	cli.Apply()
	cli.Empty()
	cli.Must("plan", "-out=saved")
	cli.NoSecret("saved", s.Token)
	cli.Write(acctest.Config(acctest.Header(s.URL), `output "mac" { value = provider::sled::mac("n1") }`))
	cli.Fails(`"n1" is not a MAC: want six`, "plan")
}

func TestProxyBreaksWhatItIsTold(t *testing.T) {
	s := sleddtest.Start(t)
	proxy := acctest.NewProxy(t, s.URL)
	client, err := api.New(api.Config{Server: proxy.URL, Token: s.Token})
	if err != nil {
		t.Fatal(err)
	}
	s.Declare(1)
	for name, fault := range acctest.Faults() {
		proxy.Break(http.MethodGet, "/v1/nodes/n1", fault)
		if _, err := client.Node(t.Context(), "n1"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := api.Collect(client.Nodes(t.Context(), api.Filter{})); err != nil {
			t.Errorf("%s: another path: %v", name, err)
		}
	}
	between := 0
	proxy.Before(http.MethodGet, "/v1/nodes", func() { between++ })
	for range 2 {
		if _, err := client.Node(t.Context(), "n1"); err != nil {
			t.Error(err)
		}
	}
	if between != 1 {
		t.Errorf("the thing before was done %d times", between)
	}
	proxy.Break(http.MethodGet, "/", acctest.Cut)
	proxy.Mend()
	if _, err := client.Node(t.Context(), "n1"); err != nil {
		t.Error(err)
	}
}

func TestAccSkipBelow(t *testing.T) {
	acctest.Start(t)
	for name, test := range map[string]struct {
		terraform, tofu string
		ran             bool
	}{"old enough": {"1.0", "1.0", true}, "too new": {"99.0", "99.0", false}, "never": {"", "", false}} {
		ran := false
		t.Run(name, func(t *testing.T) {
			acctest.SkipBelow(t, test.terraform, test.tofu)
			ran = true
		})
		if ran != test.ran {
			t.Errorf("%s: ran is %v", name, ran)
		}
	}
}
