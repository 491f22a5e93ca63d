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
  images = {
    "52:54:00:77:00:01" = "debian-12-v1"
    "52:54:00:77:00:02" = "debian-12-v1"
  }
}

resource "sled_binding" "rack" {
  for_each = local.images
  node     = each.key
  image    = each.value
  mode     = "delta"
}
