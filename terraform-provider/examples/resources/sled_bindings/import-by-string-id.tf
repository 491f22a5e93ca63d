import {
  to = sled_bindings.rack_a
  id = "rack-a"
}
