# By name: what sledd has under the provider's owner and this name.
terraform import sled_bindings.rack_a rack-a
