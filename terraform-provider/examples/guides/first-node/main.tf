terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source  = "sled-fleet/sled"
      version = "~> 0.1"
    }
  }
}

# SLED_SERVER, SLED_CA and SLED_TOKEN_FILE say where sledd is and who asks.
provider "sled" {}

# Registered by playbooks/images.yml.
data "sled_image" "debian" {
  name = "debian-12-v1"
}

resource "sled_node" "n1" {
  mac  = "52:54:00:77:00:01"
  name = "n1"
  disk = "serial:LAB-0001"
}

resource "sled_binding" "n1" {
  node  = sled_node.n1.mac
  image = data.sled_image.debian.name
}
