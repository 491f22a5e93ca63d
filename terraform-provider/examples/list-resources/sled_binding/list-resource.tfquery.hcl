# Machines that playbooks or sledctl have bound. Terraform 1.14 or later:
# terraform query -generate-config-out=bindings.tf
list "sled_binding" "all" {
  provider = sled

  config {
    image = "debian-12-v1"
  }
}
