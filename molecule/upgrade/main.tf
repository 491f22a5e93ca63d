# SPDX-License-Identifier: Apache-2.0
# n1, as it was declared by sledctl.
terraform {
  required_providers {
    sled = {
      source = "sled-fleet/sled"
    }
  }
}

provider "sled" {}

import {
  to = sled_node.n1
  id = "n1"
}

import {
  to = sled_binding.n1
  id = "n1"
}

resource "sled_node" "n1" {
  mac  = "52:54:00:78:00:01"
  name = "n1"
  disk = "only"
}

resource "sled_binding" "n1" {
  node  = sled_node.n1.mac
  image = "v1"
}
