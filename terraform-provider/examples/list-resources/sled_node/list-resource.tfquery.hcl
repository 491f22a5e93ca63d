# Machines that booted and that nobody declared. Terraform 1.14 or later:
# terraform query -generate-config-out=nodes.tf
list "sled_node" "new" {
  provider = sled

  config {
    discovered = true
  }
}
