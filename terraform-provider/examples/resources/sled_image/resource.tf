# Digest and sizes are read from the image itself, and proven.
resource "sled_image" "debian" {
  name = "debian-12-v1"
  urls = ["https://10.20.0.1/images/debian-12-v1.raw.zst"]
  labels = {
    os = "debian"
  }
}
