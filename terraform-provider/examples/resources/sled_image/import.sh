terraform import sled_image.debian debian-12-v1
