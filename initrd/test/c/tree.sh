#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a copy of what sysfs and procfs would say, below $1: disks of several kinds, some of them in use.
set -eu
cd "$1"
mkdir -p sys/block sys/class/block sys/dev/block sys/class/ata_port/ata3 sys/class/net proc/self \
	proc/sys/kernel/random sys/bus etc
for bus in pci scsi usb virtio nvme mmc block platform; do mkdir -p "sys/bus/$bus"; done
echo 3 > sys/class/ata_port/ata3/port_no

# bus DIRECTORY BUS: the directory is a device of that bus.
bus() { mkdir -p "$1"; ln -sfn "$PWD/sys/bus/$2" "$1/subsystem"; }

# disk DIRECTORY NAME NUMBER SECTORS: a whole disk in that directory of /sys/devices.
disk() {
	mkdir -p "$1/queue" "$1/holders"
	ln -sfn "$PWD/$1" "sys/block/$2"
	ln -sfn "$PWD/$1" "sys/class/block/$2"
	ln -sfn "$PWD/$1" "sys/dev/block/$3"
	echo "$3" > "$1/dev"
	echo "$4" > "$1/size"
	echo 0 > "$1/ro"
	echo 0 > "$1/removable"
	echo 0 > "$1/queue/rotational"
	echo 512 > "$1/queue/logical_block_size"
}

# part DIRECTORY NAME NUMBER START SECTORS
part() {
	mkdir -p "$1/$2/holders"
	ln -sfn "$PWD/$1/$2" "sys/class/block/$2"
	ln -sfn "$PWD/$1/$2" "sys/dev/block/$3"
	echo "$3" > "$1/$2/dev"
	echo "$4" > "$1/$2/start"
	echo "$5" > "$1/$2/size"
}

pci=sys/devices/pci0000:00
bus $pci/0000:00:04.0 pci
bus $pci/0000:00:04.0/virtio1 virtio
d=$pci/0000:00:04.0/virtio1/block/vda
disk $d vda 254:0 8388608
ln -sfn ../.. $d/device
echo LAB-0001 > $d/serial
part $d vda1 254:1 2048 1000

bus $pci/0000:00:1f.2 pci
bus $pci/0000:00:1f.2/ata3/host2 scsi
bus $pci/0000:00:1f.2/ata3/host2/target2:0:0 scsi
bus $pci/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0 scsi
s=$pci/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0
disk $s/block/sda sda 8:0 1000000
ln -sfn ../.. $s/block/sda/device
printf '\000\200\000\024      WD-WCC1234567 ' > $s/vpd_pg80
echo naa.50014ee2b1234567 > $s/wwid
echo 'WDC WD10EZEX-08W' > $s/model
echo 1 > $s/block/sda/queue/rotational
part $s/block/sda sda1 8:1 2048 4096
part $s/block/sda sda2 8:2 8192 4096
mkdir -p $s/block/sda/sda2/holders/dm-0

# Behind a bridge, and with the second host of its controller.
bus $pci/0000:00:1c.0 pci
bus $pci/0000:00:1c.0/0000:02:00.0 pci
bus $pci/0000:00:1c.0/0000:02:00.0/usb1 usb
bus $pci/0000:00:1c.0/0000:02:00.0/usb1/1-2 usb
echo USB-SERIAL > $pci/0000:00:1c.0/0000:02:00.0/usb1/1-2/serial
bus $pci/0000:00:1c.0/0000:02:00.0/usb1/1-2/1-2:1.0 usb
u=$pci/0000:00:1c.0/0000:02:00.0/usb1/1-2/1-2:1.0
bus $u/host7 scsi
bus $u/host7/target7:0:0/7:0:0:1 scsi
disk $u/host7/target7:0:0/7:0:0:1/block/sdb sdb 8:16 2000
ln -sfn ../.. $u/host7/target7:0:0/7:0:0:1/block/sdb/device
part $u/host7/target7:0:0/7:0:0:1/block/sdb sdb1 8:17 64 1000

bus $pci/0000:00:05.0 pci
bus $pci/0000:00:05.0/virtio2 virtio
for host in 4 5; do bus $pci/0000:00:05.0/virtio2/host$host scsi; done
v=$pci/0000:00:05.0/virtio2/host5/target5:0:0/5:0:0:2
bus $v scsi
disk $v/block/sdc sdc 8:32 2000
ln -sfn ../.. $v/block/sdc/device
echo 1 > $v/block/sdc/ro

bus $pci/0000:01:00.0 pci
bus $pci/0000:01:00.0/nvme/nvme0 nvme
n=$pci/0000:01:00.0/nvme/nvme0
disk $n/nvme0n1 nvme0n1 259:0 4096
ln -sfn .. $n/nvme0n1/device
echo 1 > $n/nvme0n1/nsid
echo eui.0025385b71b00001 > $n/nvme0n1/wwid
echo 'S4EVNF0M123456    ' > $n/serial
echo 'Samsung SSD 970' > $n/model
echo 4096 > $n/nvme0n1/queue/logical_block_size

bus $pci/0000:03:00.0 pci
r=$pci/0000:03:00.0/host3/target3:2:0/3:2:0:0
bus $r scsi
disk $r/block/sdf sdf 8:80 8192
ln -sfn ../.. $r/block/sdf/device
echo 'DELL    ' > $r/vendor
echo 'WDC ATA' > $r/model
mkdir -p sys/class/scsi_host/host3 && echo megaraid_sas > sys/class/scsi_host/host3/proc_name
echo 'ATA     ' > $s/vendor
l=$pci/0000:03:00.0/host3/port-3:0/end_device-3:0/target3:0:0/3:0:0:0
bus $l scsi
disk $l/block/sdg sdg 8:96 0
ln -sfn ../.. $l/block/sdg/device
printf '\000\200\000\006LOCKED' > $l/vpd_pg80

bus sys/devices/platform/soc/fe2e0000.mmc platform
m=sys/devices/platform/soc/fe2e0000.mmc/mmc_host/mmc0/mmc0:0001
bus $m mmc
disk $m/block/mmcblk0 mmcblk0 179:0 4096
disk $m/block/mmcblk0boot0 mmcblk0boot0 179:8 4096
ln -sfn ../.. $m/block/mmcblk0/device
echo 0x1234abcd > $m/serial
echo A3A442 > $m/name

disk sys/devices/virtual/block/loop0 loop0 7:0 100
disk sys/devices/virtual/block/dm-0 dm-0 253:0 100
disk sys/devices/virtual/block/sr0 sr0 11:0 100
disk sys/devices/virtual/block/zram0 zram0 252:0 0
disk sys/devices/virtual/block/sdz sdz 8:48 2048
echo 1 > sys/devices/virtual/block/sdz/removable
disk sys/devices/virtual/block/soft0 soft0 251:0 2048
disk sys/devices/virtual/nvme-subsystem/nvme-subsys9/nvme9n1 nvme9n1 259:9 2048
disk $pci/0000:00:07.0/stacked0 stacked0 250:0 2048
mkdir -p $pci/0000:00:07.0/stacked0/slaves/sdc
disk $pci/0000:00:08.0/virtio8/block/vde vde 254:64 2048
rm $pci/0000:00:08.0/virtio8/block/vde/removable && mkdir $pci/0000:00:08.0/virtio8/block/vde/removable
echo 1 > sys/devices/virtual/block/sdz/queue/rotational

cat > proc/self/mountinfo <<-END
	22 1 0:21 / / rw,relatime - tmpfs tmpfs rw
	30 22 254:1 / /mnt/a rw shared:1 - ext4 /dev/vda1 rw
	31 22 0:55 / /mnt/b rw - btrfs /dev/nvme0n1 rw
END
printf 'Filename\tType\tSize\tUsed\tPriority\n/dev/sdb1 partition 500 0 -2\n' > proc/swaps

bus $pci/0000:00:03.0 pci
mkdir -p $pci/0000:00:03.0/net/eth0/bonding_slave sys/bus/pci/drivers/virtio_net sys/devices/virtual/net/lo
ln -sfn "$PWD/$pci/0000:00:03.0/net/eth0" sys/class/net/eth0
ln -sfn "$PWD/sys/devices/virtual/net/lo" sys/class/net/lo
ln -sfn "$PWD/$pci/0000:00:03.0" $pci/0000:00:03.0/net/eth0/device
ln -sfn "$PWD/sys/bus/pci/drivers/virtio_net" $pci/0000:00:03.0/driver
echo 52:54:00:77:00:01 > $pci/0000:00:03.0/net/eth0/bonding_slave/perm_hwaddr
echo 52:54:00:77:00:09 > $pci/0000:00:03.0/net/eth0/address # of its bond
echo 1 > $pci/0000:00:03.0/net/eth0/carrier
echo -1 > $pci/0000:00:03.0/net/eth0/speed
echo 6.1.0-56-cloud-amd64 > proc/sys/kernel/osrelease
echo 0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e > proc/sys/kernel/random/boot_id
echo '2.71 3.00' > proc/uptime
printf 'processor\t: 0\nmodel name\t: AMD EPYC\nprocessor\t: 1\n' > proc/cpuinfo
echo 'MemTotal:         393216 kB' > proc/meminfo
mkdir -p sys/class/dmi/id
echo QEMU > sys/class/dmi/id/sys_vendor
echo pc-q35-7.2 > sys/class/dmi/id/product_version
mkdir -p sys/kernel/security
echo 'none [integrity] confidentiality' > sys/kernel/security/lockdown
echo 'BOOT_IMAGE=/vmlinuz ro sled.start=kexec' > proc/cmdline
for i in 0 1; do
	mkdir -p sys/class/watchdog/watchdog$i/device/driver && echo $i > sys/class/watchdog/watchdog$i/nowayout
done
echo 'SP5100 TCO timer' > sys/class/watchdog/watchdog0/identity
mkdir -p sys/module/i6300esb && ln -sfn "$PWD/sys/module/i6300esb" sys/class/watchdog/watchdog1/device/driver/module
printf 'ID=debian\nNAME="Debian GNU/Linux"\nVERSION_ID="12\a"\n' > etc/os-release
echo 0123456789abcdef0123456789abcdef > etc/machine-id
