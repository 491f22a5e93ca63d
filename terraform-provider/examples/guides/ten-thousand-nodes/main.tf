terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source  = "sled-fleet/sled"
      version = "~> 0.1"
    }
  }
}

provider "sled" {}

locals {
  nodes = csvdecode(file("${path.module}/nodes.csv"))
  racks = toset(local.nodes[*].rack)
}

resource "sled_bindings" "rack" {
  for_each = local.racks

  name   = "rack-${each.key}"
  images = { for node in local.nodes : node.mac => node.image if node.rack == each.key }

  mode         = "auto"
  max_reimages = 40
}

output "drifted" {
  value = merge(values(sled_bindings.rack)[*].drifted...)
}
