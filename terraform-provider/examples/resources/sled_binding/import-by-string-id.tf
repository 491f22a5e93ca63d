import {
  to = sled_binding.n1
  id = "n1"
}
