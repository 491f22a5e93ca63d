terraform {
  required_version = ">= 1.11"
  required_providers {
    sled = {
      source  = "sled-fleet/sled"
      version = "~> 0.1"
    }
  }
}

# The token comes from SLED_TOKEN or from the file that SLED_TOKEN_FILE names.
provider "sled" {
  server  = "https://10.20.0.1"
  ca_file = "secrets/ca.crt"

  # A plan that would image more machines again than this is an error that names them.
  max_reimages = 3
}
