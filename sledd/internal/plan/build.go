// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

const defaultWipe = "empty"

// build adds the steps of a binding. Without an image, the plan wipes all disks that are not kept and waits, or makes
// an image that is put below the URL of uploads. A machine that changes hands keeps nothing of its disks.
func (p *Plan) build(r Request) error {
	node, binding, upload := r.Node, *r.Binding, r.Site.Upload
	if r.HandsOver && binding.Capture == "" {
		binding.Mode = "full"
		if binding.Wipe != "purge" {
			binding.Wipe = "clear"
		}
	}
	target := append([]operand.Pair{{Key: "disk", Value: first(binding.Disk, node.Disk)}}, keeping(node.KeepDisks)...)
	memory := r.Image != nil && r.Image.InMemory()
	if target[0].Value == "" && (binding.Capture != "" || binding.Image != "") && !memory {
		return fmt.Errorf("no disk: neither the binding nor node %s names one", node.Name)
	}
	switch {
	case binding.Partition != "" || r.Image != nil && r.Image.Holds() == api.PartitionImage:
		return p.partition(r, target, upload)
	case binding.Capture != "":
		p.capture(r, target, upload)
	case binding.Image == "":
		p.wipe("all", target, binding)
		if binding.Verify == "full" {
			p.Steps[0].Operands = append(p.Steps[0].Operands, operand.Pair{Key: "verify", Value: binding.Verify})
		}
		p.add("idle", nil)
	case r.Image == nil:
		return fmt.Errorf("image %s does not exist", binding.Image)
	case r.Kernel != nil:
		p.kernel(r, upload)
	case memory:
		if r.HandsOver {
			p.wipe("all", target, binding)
			p.blank(node)
		}
		p.start(r, upload)
	default:
		wiped := target[0].Value
		if r.HandsOver {
			wiped = "all"
			p.wipe(wiped, target, binding)
			p.blank(node)
		}
		p.layouts(node)
		p.write(target, wiped, binding, r.Image, upload)
		p.configure(target, node, binding)
		p.boot(target, binding)
	}
	return nil
}

// capture adds the steps that make an image of the target.
func (p *Plan) capture(r Request, target []operand.Pair, upload string) {
	p.add("capture", target, "upload", upload+"/"+uploadName(r.Node.MAC, r.Generation))
	p.add("reboot", nil)
}

// keeping is the operand that keeps disks; nothing for none.
func keeping(selectors []string) []operand.Pair {
	if len(selectors) == 0 {
		return nil
	}
	return []operand.Pair{{Key: "keep", Value: strings.Join(selectors, ";")}}
}

// disks are the operands of a wipe: the disks, and those that the target keeps.
func disks(which string, target []operand.Pair) []operand.Pair {
	return append([]operand.Pair{{Key: "disks", Value: which}}, target[1:]...)
}

// uploadName is the name under which a capture uploads an image.
func uploadName(address string, generation int64) string {
	return fmt.Sprintf("%s-%d.raw.zst", mac.Hyphens(address), generation)
}

// CapturedFile is the name of the file that the web server made of an upload: with the id that it gave to that upload
// alone. So no upload replaces the file of another.
func CapturedFile(address string, generation int64, upload string) string {
	return fmt.Sprintf("%s%s.raw.zst", CapturedStem(address, generation), upload)
}

// CapturedStem is how the names of all files begin that uploads of a generation made.
func CapturedStem(address string, generation int64) string {
	return fmt.Sprintf("%s-%d-", mac.Hyphens(address), generation)
}

// UploadID is the form of an id of an upload.
var UploadID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Captured is where a boot server serves captured images: below the URL of images, and below that of uploads.
const Captured = "/captured/"

// readable returns where a node reads an image. A captured image that is not signed is private: it is read over TLS,
// with a token, from the server that it was uploaded to.
func readable(image *api.ImageSpec, upload string) []string {
	base, known := strings.CutSuffix(upload, "/upload")
	if image.Signature != "" || !known {
		return image.URLs
	}
	urls := make([]string, 0, len(image.URLs))
	for _, url := range image.URLs {
		if at := strings.LastIndex(url, Captured); at >= 0 {
			url = base + "/images" + url[at:]
		}
		if !slices.Contains(urls, url) {
			urls = append(urls, url)
		}
	}
	return urls
}

// write adds the steps that bring the image to the disk. The present content is wiped first, unless all disks were, or
// a delta is to build on it.
func (p *Plan) write(target []operand.Pair, wiped string, binding api.Binding, image *api.ImageSpec, upload string) {
	mode, level, gaps := first(binding.Mode, "full"), first(binding.Wipe, defaultWipe), "discard"
	switch {
	case binding.Partition != "", mode != "full" && level != "signatures":
		gaps = "zero"
	case wiped == "all":
	case mode == "full":
		p.wipe(wiped, target, binding)
		if level == "empty" {
			gaps = "keep" // it is zero already
		}
	}
	operands := append(imaged(binding, image, upload), "mode", mode, "gaps", gaps)
	if binding.Verify != "" {
		operands = append(operands, "verify", binding.Verify)
	}
	p.add("write", target, operands...)
}

// imaged are the operands of a step that brings an image.
func imaged(binding api.Binding, image *api.ImageSpec, upload string) []string {
	operands := []string{"image", strings.Join(readable(image, upload), ","), "digest", image.Digest}
	if image.Signature != "" {
		operands = append(operands, "name", image.Name, "statement", image.Statement, "signature", image.Signature)
	}
	if binding.AllowUnsigned {
		operands = append(operands, "unsigned", "allow")
	}
	return operands
}

func (p *Plan) wipe(which string, target []operand.Pair, binding api.Binding) {
	operands := []string{"level", first(binding.Wipe, defaultWipe)}
	if binding.WipeMethod != "" && binding.WipeMethod != "auto" {
		operands = append(operands, "method", binding.WipeMethod)
	}
	p.add("wipe", disks(which, target), operands...)
}

// configure adds the step that adapts what was written; for an image that is not configured, it sets only the boot
// order.
func (p *Plan) configure(target []operand.Pair, node api.NodeSpec, binding api.Binding) {
	ordered, operands := node.BootOrder != "" && node.BootOrder != api.KeepBootOrder, []string{"system", "keep"}
	if binding.Configure != api.Unconfigured {
		operands = []string{"hostname", first(binding.Hostname, node.Name), "grow", first(binding.Grow, "last")}
	} else if !ordered {
		return
	}
	if ordered {
		operands = append(operands, "bootorder", node.BootOrder)
	}
	p.add("configure", target, operands...)
}

func (p *Plan) boot(target []operand.Pair, binding api.Binding) {
	fallback := "reboot"
	switch binding.Boot {
	case "reboot":
		p.add("reboot", nil)
		return
	case "kexec":
		fallback = "none"
	}
	if binding.KernelArguments == "" {
		p.add("kexec", target, "fallback", fallback)
	} else {
		p.add("kexec", target, "append", binding.KernelArguments, "fallback", fallback)
	}
}

// watch arms a watchdog for the jump, if the plan ends in one. 0 seconds: none.
func (p *Plan) watch(seconds int) {
	last := &p.Steps[len(p.Steps)-1]
	if seconds > 0 && last.Word == "kexec" {
		last.Operands = append(last.Operands, operand.Pair{Key: "watchdog", Value: strconv.Itoa(seconds)})
	}
}

// stamp lets no step write to a disk that is ahead of the plan, and the last of them leave the stamp of the plan.
func (p *Plan) stamp(known, own string) {
	for i, step := range p.Steps {
		pair := operand.Pair{Key: "known", Value: known}
		if step.Word == "configure" {
			if namesPartition(step) {
				continue
			}
			pair = operand.Pair{Key: "stamp", Value: own}
		} else if step.Word != "wipe" && step.Word != "write" {
			continue
		}
		if pair.Value != "" {
			p.Steps[i].Operands = append(step.Operands, pair)
		}
	}
}

// add appends a step: the operands that say which disk, then more keys and values in turn.
func (p *Plan) add(verb string, target []operand.Pair, more ...string) {
	step := operand.Line{Word: verb, Operands: append([]operand.Pair{}, target...)}
	for i := 0; i+1 < len(more); i += 2 {
		step.Operands = append(step.Operands, operand.Pair{Key: more[i], Value: more[i+1]})
	}
	p.Steps = append(p.Steps, step)
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
