import {
  to = sled_bindings.rack_a
  identity = {
    name = "rack-a"
  }
}
