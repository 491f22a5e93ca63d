# SPDX-License-Identifier: Apache-2.0
# The lab's rack, for Terraform or OpenTofu: what group_vars/nodes.yml says of the machines, and which image each of them gets.
# tools/demo applies it. Where sledd is, and the token, come from SLED_SERVER, SLED_CA and SLED_TOKEN_FILE.
terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source = "sled-fleet/sled"
    }
  }
}

variable "nodes" {
  description = "How many machines the lab has: n1, n2, ..."
  type        = number
  default     = 2
  validation {
    condition     = var.nodes >= 1 && var.nodes <= 49
    error_message = "The lab has 1 to 49 machines."
  }
}

variable "images" {
  description = "Name of a machine to its image. Those that are not in it get debian-12-v1."
  type        = map(string)
  default     = {}
}

variable "authorized_key" {
  description = "File with the SSH public key that the machines let in, as seen from the directory of the state."
  type        = string
  default     = "../secrets/ssh.pub"
}

provider "sled" {}

# Node nI: everything follows from I.
locals {
  numbers = { for i in range(1, var.nodes + 1) : "n${i}" => i }
  images  = { for name, _ in local.numbers : name => lookup(var.images, name, "debian-12-v1") }
}

data "sled_image" "requested" {
  for_each = toset(values(local.images))
  name     = each.key
}

resource "sled_node" "lab" {
  for_each = local.numbers

  name    = each.key
  mac     = format("52:54:00:77:00:%02x", each.value)
  flavour = "cloud"
  disk    = format("serial:LAB-%04d", each.value)
  labels  = { rack = "lab" }
  bmc = {
    driver  = "ipmi"
    address = "10.77.0.${200 + each.value}"
  }
}

resource "sled_binding" "lab" {
  for_each = local.images

  node            = sled_node.lab[each.key].mac
  image           = each.value
  authorized_keys = [trimspace(file(var.authorized_key))]

  lifecycle {
    precondition {
      condition     = data.sled_image.requested[each.value].signature != null
      error_message = "Image ${each.value} is not signed: no machine of the lab would take it."
    }
  }
}

# Only what is declared: an output that tells what was observed would make a plan that changes nothing else differ from an empty one.
output "images" {
  description = "What each machine is to run."
  value       = { for name, binding in sled_binding.lab : name => binding.image }
}
