terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source  = "sled-fleet/sled"
      version = "~> 0.1"
    }
  }
}

provider "sled" {
  max_reimages = 2
}

locals {
  nodes = yamldecode(file("${path.module}/nodes.yml"))
}

resource "sled_node" "rack" {
  for_each = local.nodes

  mac    = each.value.mac
  name   = each.key
  disk   = each.value.disk
  labels = { rack = "a" }
}

resource "sled_binding" "rack" {
  for_each = local.nodes

  node  = sled_node.rack[each.key].mac
  image = each.value.image
  mode  = "auto"
}

# Waits only where it is asked for: terraform apply -var wait=true
variable "wait" {
  type        = bool
  description = "Wait until the rack runs what is bound."
  default     = false
}

resource "sled_ready" "rack" {
  count = var.wait ? 1 : 0

  nodes   = { for name, binding in sled_binding.rack : name => binding.generation }
  require = "all"

  timeouts = {
    create = "30m"
    update = "30m"
  }
}
