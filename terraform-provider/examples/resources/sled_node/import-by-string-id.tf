import {
  to = sled_node.n1
  id = "n1"
}
