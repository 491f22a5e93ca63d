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

# Says so, and leaves the machine alone. The default.
resource "sled_binding" "warn" {
  node     = "n1"
  image    = "debian-12-v1"
  on_drift = "warn"
}

# Plans to image it again.
resource "sled_binding" "reimage" {
  node     = "n2"
  image    = "debian-12-v1"
  on_drift = "reimage"
}

# For a machine whose image others choose.
resource "sled_binding" "ignore" {
  node     = "n3"
  image    = "debian-12-v1"
  on_drift = "ignore"
}
