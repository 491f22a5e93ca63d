// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// installForm asks for the image of a node that waits in the Sled system, where it starts at once; then it shows what
// that wipes, and asks for the name of the node.
func (w *Web) installForm(ask ask, given url.Values) (form, error) {
	shown, node, err := w.nodeForm(ask, "Install an image on")
	if err != nil {
		return shown, err
	}
	name := wording.NodeName(node)
	shown.Commands = []command{{"image it at its next boot, or to boot it now",
		"ansible-playbook sled.fleet.reimage --limit " + name + " -e image=" + orPlaceholder(given.Get("image"))}}
	if why := unready(node); why != "" {
		shown.Lead = why
		return shown, nil
	}
	if given.Get("image") == "" {
		return w.imageForm(ask, given, shown, node)
	}
	seen, err := w.outlookForm(ask, given, shown, node)
	if refused := (*api.Error)(nil); errors.As(err, &refused) && refused.Status < http.StatusInternalServerError {
		shown.Fault = faultText(refused)
		return w.imageForm(ask, given, shown, node)
	}
	return seen, err
}

func orPlaceholder(image string) string {
	if image == "" || strings.ContainsAny(image, " '\"$`\\;&|<>()\n") {
		return "IMAGE"
	}
	return image
}

// unready explains why a node gets no image from this page; empty: it does.
func unready(n api.Node) string {
	switch name := wording.NodeName(n); {
	case !n.Declared:
		return name + " is not declared: accept it first."
	case n.AdmissionState == "none" || n.AdmissionState == "waiting":
		return "No machine is admitted as " + name + " yet: it does not wait for an image."
	case !waits(n):
		return name + " does not wait in the Sled system: it is " + wording.Phase(n.Status.Phase) +
			". A node is wiped from this page only where it starts at once."
	case n.Binding != nil && n.Binding.Owner != "":
		return "The binding of " + name + " belongs to " + n.Binding.Owner + ": change it there."
	}
	return ""
}

// waits reports whether a node waits in the Sled system.
func waits(n api.Node) bool {
	return n.Declared && api.When(n.Status.Phase, n.Rescue != nil || n.Job != nil) == api.Now
}

// imageForm asks for the image.
func (w *Web) imageForm(ask ask, given url.Values, shown form, node api.Node) (form, error) {
	list, err := w.Fleet.Images(ask.Context())
	if err != nil {
		return shown, err
	}
	image := field{Kind: "select", Name: "image", Label: "Image", Value: given.Get("image"), Required: true}
	holds, lead := api.DiskImage, "First you see which disk is wiped."
	if partition := partitionOf(node); partition != "" {
		holds = api.PartitionImage
		lead = "Its binding is about partition " + partition + ": first you see what is lost in it. For another " +
			"partition, or the whole disk, change the binding."
	}
	for _, one := range list.Items {
		if one.Holds() == holds && (one.Architecture == "" || one.Architecture == wording.Architecture(node)) {
			image.Options = append(image.Options, one.Name)
		}
	}
	if len(image.Options) == 0 {
		shown.Lead = "No image of kind " + holds + " is registered for this node."
		shown.Commands = []command{{"make and register images", "ansible-playbook sled.fleet.images"}}
		if holds == api.PartitionImage {
			shown.Commands = []command{{"register one", "sledctl image add --url URL --kind partition"}}
		}
		return shown, nil
	}
	keys := given.Get("keys")
	if !given.Has("keys") && node.Binding != nil {
		keys = strings.Join(node.Binding.AuthorizedKeys, "\n")
	}
	shown.Lead = "It waits in the Sled system, and starts at once. " + lead
	shown.Fields = []field{image, keysField(keys, false)}
	shown.Buttons = []button{{Act: "show", Text: "Show what is wiped"}}
	return shown, nil
}

// partitionOf is the one that the binding of a node is about; empty: none.
func partitionOf(n api.Node) string {
	if n.Binding == nil {
		return ""
	}
	return n.Binding.Partition
}

// outlookForm shows the outlook of sledd, and asks for the name of the node.
func (w *Web) outlookForm(ask ask, given url.Values, shown form, node api.Node) (form, error) {
	shown.Back += "/install"
	client, err := w.Client(ask.Operator)
	if err != nil {
		return shown, err
	}
	bound, err := bind(client, ask, given, node, api.DryRun())
	if err != nil {
		return shown, err
	}
	outlook := bound.Outlook
	shown.Facts = filled([]fact{{"image", outlook.Image}, {"wipes", outlook.Wipes},
		{"on it", cmp.Or(outlook.Had, "no image that Sled knows of")},
		{"erases by", bound.Wipe}, {"SSH keys", wording.Count(len(bound.AuthorizedKeys))}})
	shown.Disks = outlook.Disks
	if len(outlook.Disks) > 1 || outlook.Unmatched {
		shown.Lead = "The selector " + outlook.Disk + " matches " + strconv.Itoa(len(outlook.Disks)) +
			" disks, and must match one. Change the declaration of the node: nothing would be written."
		return shown, nil
	}
	name := wording.NodeName(node)
	shown.Lead = "Everything on this disk is lost at once."
	if outlook.Partition != "" {
		shown.Lead = "Everything in partition " + outlook.Partition + " of this disk is lost at once. The rest of the disk " +
			"stays as it is."
	}
	shown.Fields = []field{
		{Kind: "hidden", Name: "image", Value: given.Get("image")}, {Kind: "hidden", Name: "keys", Value: given.Get("keys")},
		{Kind: "hidden", Name: "generation", Value: strconv.FormatInt(bound.Generation, 10)},
		{Kind: "hidden", Name: "wipes", Value: outlook.Wipes},
		{Kind: "text", Name: "typed", Label: "Type the name of the node, " + name, Required: true, NoHistory: true,
			Hint: "It holds for what is shown here. If the node, its disk or its generation changes, nothing is written."}}
	shown.Buttons = []button{{Act: "install", Text: "Wipe and install", Wipes: true}}
	return shown, nil
}

// bind sends the binding of a node with another image; all else that it has stays. It is refused unless the node waits.
func bind(c *api.Client, ask ask, given url.Values, node api.Node, options ...api.Option) (api.Binding, error) {
	spec := api.BindingSpec{}
	options = append(options, api.IfWaiting())
	if node.Binding != nil {
		spec = node.Binding.BindingSpec
		options = append(options, api.Reimage(), api.KeepUserData())
	}
	keys, err := readKeys(given.Get("keys"))
	if err != nil {
		return api.Binding{}, err
	}
	spec.Node, spec.Image, spec.Capture, spec.AuthorizedKeys = node.Name, given.Get("image"), "", keys
	return c.PutBinding(ask.Context(), spec, options...)
}

func readKeys(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	keys, err := api.ReadKeys(text)
	if err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, "keys: "+err.Error())
	}
	return keys, nil
}

// install binds a node that waits, if what was shown still holds.
func (w *Web) install(c *api.Client, ask ask, given url.Values) (string, error) {
	node, err := c.Node(ask.Context(), ask.PathValue("node"))
	if err != nil {
		return "", err
	}
	if why := unready(node); why != "" {
		return "", refuse(http.StatusConflict, strings.TrimSuffix(why, "."))
	}
	outlook, err := bind(c, ask, given, node, api.DryRun())
	if err != nil || given.Get("act") != "install" {
		return "", err
	}
	generation, err := strconv.ParseInt(given.Get("generation"), 10, 64)
	switch {
	case err != nil || generation < 1:
		return "", refuse(http.StatusBadRequest, "the form has no generation: open it again")
	case generation != outlook.Generation || given.Get("wipes") != outlook.Outlook.Wipes:
		return "", refuse(http.StatusPreconditionFailed, "something else was shown, "+given.Get("wipes")+
			"; see what holds now")
	case strings.TrimSpace(given.Get("typed")) != node.Name:
		return "", refuse(http.StatusUnprocessableEntity, "the name of the node is "+node.Name+", and not "+
			strconv.Quote(given.Get("typed")))
	}
	if _, err := bind(c, ask, given, node, api.IfGeneration(generation)); err != nil {
		return "", err
	}
	return nodePage(node.MAC), nil
}
