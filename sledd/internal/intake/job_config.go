// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/detour"
)

const (
	ociVersion = "1.0.2" // that crun of Debian 12 knows
	searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// ordinary are the capabilities that Docker leaves a container, but for CAP_MKNOD.
var ordinary = []string{"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
	"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT"}

// more are those that only a privileged payload has.
var more = []string{"CAP_AUDIT_CONTROL", "CAP_AUDIT_READ", "CAP_BLOCK_SUSPEND", "CAP_BPF", "CAP_CHECKPOINT_RESTORE",
	"CAP_DAC_READ_SEARCH", "CAP_IPC_LOCK", "CAP_IPC_OWNER", "CAP_LEASE", "CAP_LINUX_IMMUTABLE", "CAP_MAC_ADMIN",
	"CAP_MAC_OVERRIDE", "CAP_MKNOD", "CAP_NET_ADMIN", "CAP_NET_BROADCAST", "CAP_PERFMON", "CAP_SYS_ADMIN",
	"CAP_SYS_BOOT", "CAP_SYS_MODULE", "CAP_SYS_NICE", "CAP_SYS_PACCT", "CAP_SYS_PTRACE", "CAP_SYS_RAWIO",
	"CAP_SYS_RESOURCE", "CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_SYSLOG", "CAP_WAKE_ALARM"}

// jobConfig is the configuration of the container of a job (contract/job.md).
func jobConfig(job *detour.Job) (string, error) {
	process, err := jobProcess(job)
	if err != nil {
		return "", err
	}
	linux := &specs.Linux{CgroupsPath: "/sled/job", Namespaces: []specs.LinuxNamespace{{Type: specs.PIDNamespace},
		{Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.MountNamespace}, {Type: specs.CgroupNamespace}},
		Resources: &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: job.Privileged, Access: "rwm"}}}}
	if !job.Privileged {
		linux.MaskedPaths = []string{"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
			"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"}
		linux.ReadonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
	}
	text, err := json.Marshal(specs.Spec{Version: ociVersion, Process: process, Root: &specs.Root{Path: "rootfs"},
		Hostname: job.Node, Mounts: jobMounts(job), Linux: linux})
	if err != nil {
		return "", fmt.Errorf("job %s: %w", job.ID, err)
	}
	return string(text), nil
}

// jobProcess is what runs. An entry point of the job makes the command of the image meaningless.
func jobProcess(job *detour.Job) (*specs.Process, error) {
	image := *cmp.Or(job.Source.Container, &api.Container{})
	entrypoint, command := job.Entrypoint, job.Command
	if len(entrypoint) == 0 {
		entrypoint = image.Entrypoint
		if len(command) == 0 {
			command = image.Command
		}
	}
	uid, gid, _ := strings.Cut(cmp.Or(job.User, image.User, "0:0"), ":")
	var numbers [2]uint32
	for i, text := range []string{uid, gid} {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("job %s: user: %w", job.ID, err)
		}
		numbers[i] = uint32(n)
	}
	names := ordinary
	if job.Privileged {
		names = slices.Sorted(slices.Values(slices.Concat(ordinary, more)))
	}
	has := &specs.LinuxCapabilities{Bounding: names, Permitted: names, Effective: names}
	if numbers[0] != 0 {
		has = &specs.LinuxCapabilities{Bounding: names}
	}
	return &specs.Process{Args: slices.Concat(entrypoint, command), Cwd: cmp.Or(job.Folder, image.Folder, "/"),
		Env:  environment([]string{searchPath}, image.Environment, job.Environment),
		User: specs.User{UID: numbers[0], GID: numbers[1]}, NoNewPrivileges: !job.Privileged, Capabilities: has}, nil
}

// environment joins lists of variables; the last one of a name counts.
func environment(lists ...[]string) []string {
	var joined []string
	for _, one := range slices.Concat(lists...) {
		name, _, _ := strings.Cut(one, "=")
		joined = slices.DeleteFunc(joined, func(earlier string) bool { return strings.HasPrefix(earlier, name+"=") })
		joined = append(joined, one)
	}
	return joined
}

func jobMounts(job *detour.Job) []specs.Mount {
	access := "ro"
	if job.Privileged {
		access = "rw"
	}
	mounts := []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts",
			Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", access}},
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup",
			Options: []string{"nosuid", "noexec", "nodev", "relatime", access}},
	}
	if job.Privileged {
		mounts[1] = specs.Mount{Destination: "/dev", Type: "bind", Source: "/dev", Options: []string{"rbind", "rw"}}
		mounts = slices.Delete(mounts, 2, 5) // they are those of the node
		if job.Kernel != "" {
			mounts = append(mounts, specs.Mount{Destination: "/lib/modules", Type: "bind", Source: "/lib/modules",
				Options: []string{"bind", "ro"}})
		}
	}
	if len(job.SecretNames) > 0 {
		mounts = append(mounts, specs.Mount{Destination: "/run/secrets", Type: "bind", Source: "secrets",
			Options: []string{"bind", "ro", "nosuid", "noexec", "nodev"}})
	}
	return mounts
}
