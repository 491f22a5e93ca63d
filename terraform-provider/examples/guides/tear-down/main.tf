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

resource "sled_node" "n1" {
  mac  = "52:54:00:77:00:01"
  name = "n1"
  disk = "serial:LAB-0001"
}

resource "sled_binding" "n1" {
  node  = sled_node.n1.mac
  image = "debian-12-v1"

  # keep, the default, removes the binding and leaves machine and disk unchanged.
  on_destroy = "wipe"
}
