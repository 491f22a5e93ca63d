data "sled_erasures" "n7" {
  node = "n7"
}

# Each disk of n7 that was wiped, with how and when.
output "erased" {
  value = {
    for one in data.sled_erasures.n7.records : one.serial => "${one.method}, ${one.time}"
    if one.result == "good"
  }
}
