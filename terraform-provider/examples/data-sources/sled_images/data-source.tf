data "sled_images" "debian" {
  name_prefix = "debian-12-"
}

# They are sorted as texts: v10 comes before v9. So the version is compared as a number.
locals {
  versions = [for name in data.sled_images.debian.names :
  tonumber(trimprefix(name, "debian-12-v")) if can(regex("^debian-12-v[0-9]+$", name))]
}

output "latest" {
  value = length(local.versions) > 0 ? "debian-12-v${max(local.versions...)}" : null
}
