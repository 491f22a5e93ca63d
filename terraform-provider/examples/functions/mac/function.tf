# 3c:ec:ef:10:00:01: lower case, with colons.
output "mac" {
  value = provider::sled::mac("3C-EC-EF-10-00-01")
}
