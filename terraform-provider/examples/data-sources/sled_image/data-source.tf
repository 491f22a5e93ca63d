data "sled_image" "debian" {
  name = "debian-12-v1"
}

output "digest" {
  value = data.sled_image.debian.digest
}
