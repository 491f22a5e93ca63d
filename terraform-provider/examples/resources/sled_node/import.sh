# By MAC, or by name.
terraform import sled_node.n1 3c:ec:ef:10:00:01
terraform import sled_node.n1 n1
