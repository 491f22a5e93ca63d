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
  max_reimages = 0
}

locals {
  images = {
    "52:54:00:77:00:01" = "debian-12-v1"
    "52:54:00:77:00:02" = "debian-12-v1"
  }
}

resource "sled_bindings" "rack" {
  name   = "rack-a"
  images = local.images
  mode   = "delta"
}

removed {
  from = sled_binding.rack
  lifecycle {
    destroy = false
  }
}
