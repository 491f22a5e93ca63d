data "sled_images" "debian" {
  name_prefix = "debian-12-"
}

# They are sorted by name: v10 comes before v2.
output "latest" {
  value = reverse(data.sled_images.debian.names)[0]
}
