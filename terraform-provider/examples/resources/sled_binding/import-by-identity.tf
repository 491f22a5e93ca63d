import {
  to = sled_binding.n1
  identity = {
    mac = "3c:ec:ef:10:00:01"
  }
}
