# SPDX-License-Identifier: Apache-2.0
# The rack of hosts.yml, declared with Terraform or OpenTofu instead of playbooks/enroll.yml and `-e image=`. One list of machines serves
# both: names, MACs, BMCs, disks and labels are read from hosts.yml and group_vars/. From the root of Sled's tree:
#   make install-provider                                         once; then init asks nothing of the internet
#   terraform -chdir=inventory/myrack init
#   terraform -chdir=inventory/myrack apply                       read its warnings: they name each disk that is wiped
#   ansible-playbook -i inventory/myrack playbooks/reimage.yml    boots the machines that are not as declared
# Terraform declares bindings and switches nothing on or off. State lies in this directory: on a site of several operators, add a
# `backend` that locks it.
terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source = "sled-fleet/sled"
    }
  }
}

variable "images" {
  description = "Name of a machine to its image. Those that are not in it get node_image of group_vars. Another image: the disk is wiped."
  type        = map(string)
  default     = {}
}

variable "authorized_keys" {
  description = "File of SSH public keys that the installed systems let in; the same as sled_authorized_keys of group_vars/all.yml."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "wait" {
  description = "Wait until the machines run what is declared. Let playbooks/reimage.yml run beside it, for it is that which boots them."
  type        = bool
  default     = false
}

# Both files were put there by playbooks/site.yml. Without these lines: SLED_SERVER, SLED_CA and SLED_TOKEN_FILE.
provider "sled" {
  server     = local.site.sled_server
  ca_file    = "${path.module}/secrets/ca.crt"
  token_file = "${path.module}/secrets/admin.token"
  # A plan that images more machines again than these is an error: a slip of the keyboard costs half a rack at most. Raise it for the day
  # that all of them are meant. First images do not count.
  max_reimages = 4
}

# What hosts.yml and group_vars say, in Ansible's order: nodes.yml, then the groups by name, then the machine itself. Values with {{ }} are
# Ansible's alone; of those only the label `rack` is needed here, and made below.
locals {
  site   = yamldecode(file("${path.module}/group_vars/all.yml"))
  nodes  = yamldecode(file("${path.module}/group_vars/nodes.yml"))
  groups = yamldecode(file("${path.module}/hosts.yml")).nodes.children
  of_group = {
    for group, _ in local.groups : group =>
    yamldecode(try(file("${path.module}/group_vars/${group}.yml"), "{}"))
  }
  groups_of = {
    for name in distinct(flatten([for content in local.groups : keys(content.hosts)])) : name =>
    [for group, content in local.groups : group if contains(keys(content.hosts), name)]
  }
  machines = {
    for name, groups in local.groups_of : name => merge(concat(
      [local.nodes, { node_labels = {} }],
      [for group in groups : local.of_group[group]],
      [for group in groups : local.groups[group].hosts[name] if local.groups[group].hosts[name] != null],
    )...)
  }
  racks  = { for name, groups in local.groups_of : name => concat([for group in groups : group if startswith(group, "rack_")], ["none"])[0] }
  images = { for name, machine in local.machines : name => lookup(var.images, name, machine.node_image) }
}

data "sled_image" "requested" {
  for_each = toset(values(local.images))
  name     = each.key
}

resource "sled_node" "rack" {
  for_each = local.machines

  name       = each.key
  mac        = each.value.node_mac
  macs       = try(each.value.node_macs, null)
  flavour    = each.value.node_flavour
  disk       = each.value.node_disk
  keep_disks = length(each.value.node_keep_disks) > 0 ? each.value.node_keep_disks : null
  boot_order = try(each.value.node_boot_order, null)
  network    = try(each.value.node_network, null)
  labels     = merge({ rack = local.racks[each.key] }, each.value.node_labels)
  bmc = {
    driver  = each.value.power_driver
    address = each.value.power_address
    port    = each.value.power_port
  }
}

resource "sled_binding" "rack" {
  for_each = local.images

  node            = sled_node.rack[each.key].mac
  image           = each.value
  authorized_keys = compact(split("\n", file(pathexpand(var.authorized_keys))))

  # Somebody imaged a machine otherwise (reimage.yml -e image=, sledctl bind)? warn tells it, reimage plans to undo it, ignore is silent.
  on_drift = "warn"
  # A machine that goes from hosts.yml keeps its disk. With wipe it loses it; then run playbooks/wipe.yml and apply once more.
  on_destroy = "keep"

  lifecycle {
    precondition {
      condition     = data.sled_image.requested[each.value].signature != null
      error_message = "Image ${each.value} is not signed: run playbooks/images.yml --tags publish."
    }
  }
}

resource "sled_ready" "rack" {
  count = var.wait ? 1 : 0

  nodes = { for binding in sled_binding.rack : binding.mac => binding.generation }
  # A dead machine does not hold up the others; it is listed in `late`.
  require   = "80%"
  fail_fast = false
  timeouts = {
    create = "60m"
    update = "60m"
  }
}

output "late" {
  description = "Machines that did not come up, and why. Only with -var wait=true."
  value       = one([for all in sled_ready.rack : merge(all.failed, all.pending)])
}
