# By the MAC of the machine, or by its name.
terraform import sled_binding.n1 3c:ec:ef:10:00:01
terraform import sled_binding.n1 n1
