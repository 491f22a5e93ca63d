// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
)

var (
	_ action.ActionWithConfigure        = (*run)(nil)
	_ action.ActionWithConfigValidators = (*run)(nil)
)

// jobPoll is the time between two polls of a job.
const jobPoll = time.Second

type run struct{ machines }

// NewRun makes the action sled_run.
func NewRun() action.Action { return &run{} }

func (r *run) Metadata(_ context.Context, request action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_run"
}

func (r *run) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	all := attributes()
	all["image"] = schema.StringAttribute{Required: true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		MarkdownDescription: "Name of an image of kind `root`, or of a payload of kind `kernel`."}
	all["command"] = schema.ListAttribute{Optional: true, ElementType: types.StringType,
		Validators:          []validator.List{listvalidator.NoNullValues()},
		MarkdownDescription: "Arguments, or the whole command without an entry point; default: those of the image."}
	all["kernel"] = schema.StringAttribute{Optional: true,
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		MarkdownDescription: "Name of an image of kind `kernel`, on which the payload runs; default: the kernel of the " +
			"Sled system."}
	all["kernel_arguments"] = schema.StringAttribute{Optional: true,
		MarkdownDescription: "Arguments of that kernel, or of a payload."}
	all["tune"] = schema.ListAttribute{Optional: true, ElementType: types.StringType,
		Validators: []validator.List{listvalidator.NoNullValues()},
		MarkdownDescription: "Settings of the kernel, each as `PATH=VALUE` with a path below `/sys` or `/proc/sys`, set " +
			"before the payload starts."}
	all["root"] = schema.StringAttribute{Optional: true,
		Validators: []validator.String{stringvalidator.OneOf("memory", api.NetRoot)},
		MarkdownDescription: "`memory` (default), or `net`: the image stays at the boot server, which exports it by NFS, " +
			"and each block that is read is checked."}
	all["timeout"] = schema.Int64Attribute{Optional: true,
		Validators:          []validator.Int64{int64validator.Between(1, 604800)},
		MarkdownDescription: "Seconds that the payload may run; default: 3600."}
	all["interrupt"] = schema.BoolAttribute{Optional: true,
		MarkdownDescription: "Also on a machine whose system runs; it boots again afterwards."}
	all["wait"] = schema.BoolAttribute{Optional: true,
		MarkdownDescription: "`false` does not wait for the end of the jobs. Else an exit code but 0 is an error."}
	response.Schema = schema.Schema{Attributes: all,
		MarkdownDescription: "Runs a container image or a kernel on machines once, from RAM, as `sledctl run` does: no " +
			"disk is touched and what the machines do otherwise continues afterwards. Power is not switched. Needs " +
			"Terraform 1.14."}
}

// wanted is the configuration, of which unknown values are left out.
type wanted struct {
	spec api.JobSpec
	wait bool
}

func readJob(ctx context.Context, config getter) (wanted, diag.Diagnostics) {
	var image, root, kernel, arguments types.String
	var seconds types.Int64
	var interrupt, wait types.Bool
	w := wanted{}
	diagnostics := config.GetAttribute(ctx, path.Root("image"), &image)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("command"), &w.spec.Command)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("kernel"), &kernel)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("kernel_arguments"), &arguments)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("tune"), &w.spec.Tune)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("root"), &root)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("timeout"), &seconds)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("interrupt"), &interrupt)...)
	diagnostics.Append(config.GetAttribute(ctx, path.Root("wait"), &wait)...)
	w.spec.Image, w.spec.Root, w.spec.Timeout = image.ValueString(), root.ValueString(), int(seconds.ValueInt64())
	w.spec.Kernel, w.spec.Arguments = kernel.ValueString(), arguments.ValueString()
	w.spec.Interrupt, w.wait = interrupt.ValueBool(), wait.IsNull() || wait.ValueBool()
	return w, diagnostics
}

// Invoke requests all jobs before it waits for one.
func (r *run) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	wants, diagnostics := readJob(ctx, request.Config)
	response.Diagnostics.Append(diagnostics...)
	if response.Diagnostics.HasError() {
		return
	}
	var jobs []api.Job
	r.each(ctx, request.Config, response, func(name string, node api.Node) (string, diag.Diagnostics) {
		if node.MAC == "" {
			return "", unable(name, "given a job", "sledd does not know it.")
		}
		spec := wants.spec
		spec.Node = node.MAC
		return name + ": the job is requested", r.site.Call(ctx, "run image "+spec.Image+" on node "+name,
			func(ctx context.Context, client *api.Client) error {
				job, err := client.CreateJob(ctx, spec)
				if err == nil {
					jobs = append(jobs, job)
				}
				return err //nolint:wrapcheck // Call explains it
			})
	})
	for _, job := range jobs {
		if wants.wait {
			response.Diagnostics.Append(r.await(ctx, job, response)...)
		}
	}
}

// await waits for the end of a job. Without an exit code of 0 it is an error.
func (r *run) await(ctx context.Context, job api.Job, response *action.InvokeResponse) diag.Diagnostics {
	for !job.State.Ended() {
		select {
		case <-time.After(jobPoll):
		case <-ctx.Done():
			return unable(job.Node, "waited for", fmt.Sprintf("Terraform was interrupted; job %s continues.", job.ID))
		}
		diagnostics := r.site.Call(ctx, "read job "+job.ID, func(ctx context.Context, client *api.Client) error {
			found, err := client.Job(ctx, job.ID)
			if err == nil {
				job = found
			}
			return err //nolint:wrapcheck // Call explains it
		})
		if diagnostics.HasError() {
			return diagnostics
		}
	}
	if job.State != api.JobDone || job.Exit == nil || *job.Exit != 0 {
		return diag.Diagnostics{diag.NewErrorDiagnostic(fmt.Sprintf("Job %s on node %s: %s", job.ID, job.Node, job.State),
			"Its output: sledctl job logs "+job.ID+". "+job.Reason.String())}
	}
	response.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf("%s: job %s: exit 0", job.Node, job.ID)})
	return nil
}
