import {
  to = sled_image.debian
  id = "debian-12-v1"
}
