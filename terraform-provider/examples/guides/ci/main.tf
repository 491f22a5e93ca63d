terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source  = "sled-fleet/sled"
      version = "~> 0.1"
    }
  }
}

variable "max_reimages" {
  type        = number
  description = "Most machines that one run may image again."
  default     = 1
}

variable "images" {
  type        = map(string)
  description = "Name of each node to name of its image."
  default = {
    n1 = "debian-12-v1"
    n2 = "debian-12-v1"
  }
}

provider "sled" {
  owner        = "ci"
  max_reimages = var.max_reimages
}

resource "sled_binding" "fleet" {
  for_each = var.images

  node  = each.key
  image = each.value
}
