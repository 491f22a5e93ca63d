// SPDX-License-Identifier: Apache-2.0
// The tree that tree.sh made, its directory in $SLED_TREE.
#include <stdlib.h>
#include <string.h>

#include "disk/identity.h"
#include "disk/scan.h"
#include "disk/transport.h"
#include "node/facts.h"
#include "node/os.h"
#include "node/watchdog.h"
#include "tap.h"

static struct disks disks;

static const struct disk *get(const char *name) {
	static const struct disk none;
	for (size_t i = 0; i < disks.count; i++)
		if (!strcmp(disks.items[i].name, name))
			return &disks.items[i];
	return &none;
}

static void test_identities(void) {
	same(get("vda")->serial, "LAB-0001", "virtio serial");
	same(get("vda")->path, "pci-0000:00:04.0", "virtio path");
	same(get("vda")->path_short, "", "has no second path");
	same(get("sda")->serial, "WD-WCC1234567", "ATA serial from page 0x80");
	same(get("sda")->wwn, "0x50014ee2b1234567", "ATA wwn");
	same(get("sda")->path, "pci-0000:00:1f.2-ata-3.0", "ATA path");
	same(get("sda")->path_short, "pci-0000:00:1f.2-ata-3", "ATA path, older form");
	same(get("sda")->model, "WDC WD10EZEX-08W", "ATA model");
	same(get("sdb")->serial, "USB-SERIAL", "serial of the USB device");
	same(get("sdb")->path, "pci-0000:02:00.0-usb-0:2:1.0-scsi-0:0:0:1", "USB path, behind a bridge");
	same(get("sdc")->path, "pci-0000:00:05.0-scsi-1:0:0:2", "SCSI path, second host");
	same(get("nvme0n1")->serial, "S4EVNF0M123456", "NVMe serial");
	same(get("nvme0n1")->wwn, "eui.0025385b71b00001", "NVMe wwn");
	same(get("nvme0n1")->drive, "nvme0", "the drive that it is a namespace of");
	same(get("sda")->drive, "", "of a SCSI disk there is none");
	same(get("nvme0n1")->path, "pci-0000:01:00.0-nvme-1", "NVMe path");
	same(get("mmcblk0")->serial, "0x1234abcd", "MMC serial");
	same(get("mmcblk0")->model, "A3A442", "MMC name");
	same(get("mmcblk0")->path, "platform-fe2e0000.mmc", "path of a platform device");
}

static void test_numbers(void) {
	ok(get("vda")->bytes == 4294967296, "size in bytes");
	ok(get("nvme0n1")->sector == 4096 && get("nvme0n1")->bytes == 4096 * 512,
	   "sysfs counts 512 whatever the sector");
	ok(get("sda")->rotational && !get("vda")->rotational, "rotational");
	ok(get("sdc")->readonly, "read-only");
	ok(get("sda")->partition_count == 2, "partitions");
	ok(get("sda")->partitions[0].bytes == 4096 * 512, "and their sizes");
}

static void test_unfit(void) {
	same(get("vda")->in_use, "mounted at /mnt/a", "a partition is mounted");
	same(get("nvme0n1")->in_use, "mounted at /mnt/b", "mounted by a filesystem with its own device number");
	same(get("sda")->in_use, "held by dm-0", "a partition is held");
	same(get("sdb")->in_use, "used for swap by /dev/sdb1", "swap");
	same(get("sdc")->in_use, "", "free");
	same(get("loop0")->excluded, "a loop device", "loop");
	same(get("dm-0")->excluded, "a device-mapper device", "device-mapper");
	same(get("sr0")->excluded, "an optical drive", "optical");
	same(get("zram0")->excluded, "a RAM disk", "zram");
	same(get("sdz")->excluded, "removable", "removable");
	same(get("mmcblk0boot0")->excluded, "a hardware partition", "boot partition of an MMC");
	same(get("mmcblk0")->excluded, "", "an MMC is a disk");
	same(get("stacked0")->excluded, "made of other disks", "a driver that nobody knows, over a disk");
	same(get("soft0")->excluded, "a virtual device", "a driver that nobody knows, of software");
	same(get("nvme9n1")->excluded, "", "an NVMe that may have several paths is a disk");
	ok(!strncmp(get("vde")->in_use, "of unknown use: ", 16) && strstr(get("vde")->in_use, "/removable: "),
	   "what the kernel does not tell: %s", get("vde")->in_use);
}

static void test_transport(void) {
	static const struct {
		const char *real, *word, *foreign;
	} cases[] = {
		{"/sys/devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block/sda", "sata", ""},
		{"/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1", "nvme", ""},
		{"/sys/devices/pci0000:00/0000:02:00.0/host1/port-1:0/end_device-1:0/1:0:0:0/block/sdb", "sas", ""},
		{"/sys/devices/pci0000:00/0000:00:05.0/virtio2/host5/target5:0:0/5:0:0:2/block/sdc", "virtio", ""},
		{"/sys/devices/platform/soc/mmc_host/mmc0/mmc0:0001/block/mmcblk0", "mmc", ""},
		{"/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdc", "usb",
		 "attached by USB"},
		{"/sys/devices/pci0000:00/0000:03:00.0/host5/rport-5:0-1/target5:0:1/5:0:1:0/block/sdd", "fc",
		 "attached by Fibre Channel"},
		{"/sys/devices/platform/host7/session1/target7:0:0/7:0:0:1/block/sde", "iscsi", "attached by iSCSI"},
		{"/sys/devices/virtual/nvme-fabrics/ctl/nvme1/nvme1n1", "nvme-of", "attached by NVMe over fabrics"},
		{"/sys/devices/pci0000:00/0000:04:00.0/host3/target3:0:0/3:0:0:0/block/sdf", "", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *word = transport_of_path(cases[i].real, strrchr(cases[i].real, '/') + 1);
		same(word, cases[i].word, cases[i].real);
		same(transport_foreign(word), cases[i].foreign, cases[i].real);
		ok(transport_is_local(word) == (*word && !*cases[i].foreign), "local or not: %s", word);
	}
	same(get("sdb")->transport, "usb", "a USB disk of the tree");
	same(get("sdb")->foreign, "attached by USB", "which is foreign");
	same(get("nvme0n1")->transport, "nvme", "an NVMe drive of the tree");
	same(get("nvme0n1")->foreign, "", "which is not");
	same(get("sda")->transport, "sata", "a SATA disk of the tree");
	same(get("sda")->vendor, "", "whose vendor says nothing");
	same(get("sdf")->transport, "raid", "a volume of a RAID controller");
	same(get("sdf")->vendor, "DELL", "and its vendor");
	same(get("loop0")->transport, "", "a loop device");
}

static void test_page80(void) {
	static const unsigned char lies[] = {0, 0x80, 0xff, 0xff, 'a', 'b'}, other[] = {0, 0x83, 0, 2, 'a', 'b'};
	char serial[32];
	identity_page80(lies, sizeof(lies), serial, sizeof(serial));
	same(serial, "ab", "a length beyond the page");
	identity_page80(other, sizeof(other), serial, sizeof(serial));
	same(serial, "", "another page");
	identity_page80(lies, 3, serial, sizeof(serial));
	same(serial, "", "a cut page");
}

static void test_facts(const char *root) {
	struct text text = {0};
	struct fault fault;

	ok(facts_collect(root, &text, &fault) == 0, "facts");
	ok(strstr(text_string(&text), "facts 1\nboot 0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e\nkernel "
				      "release=6.1.0-56-cloud-amd64 uptime=2.71\n") == text.data,
	   "head");
	ok(strstr(text_string(&text), "\ncpu model=AMD%20EPYC threads=2 arch="), "cpu");
	ok(strstr(text_string(&text), "\nmemory bytes=402653184\n"), "memory");
	ok(strstr(text_string(&text),
		  "\nfirmware type=bios lockdown=integrity\ndmi vendor=QEMU product= version=pc-q35-7.2 "),
	   "firmware");
	ok(strstr(text_string(&text), "\nnic name=eth0 mac=52:54:00:77:00:01 driver=virtio_net link=1 speed=\n"),
	   "nic");
	ok(!strstr(text_string(&text), "nic name=lo"), "no nic without hardware");
	ok(strstr(text_string(&text), "\ndisk name=vda serial=LAB-0001 wwn= path=pci-0000:00:04.0 model= "
				      "bytes=4294967296 rotational=0 removable=0 readonly=0 sector=512 vendor= "
				      "transport=virtio\n"),
	   "disk");
	ok(strstr(text_string(&text), "disk name=sdg serial=LOCKED ") && strstr(text_string(&text), " bytes=0 "),
	   "a disk without a size");
	ok(!strstr(text_string(&text), "name=zram0"), "no RAM disk without one");
	text_free(&text);
	ok(os_describe(root, "3", "keys of root", &text, &fault) == 0, "operational");
	same(text_string(&text),
	     "operational 1\ngeneration 3\nos id=debian version=12%3F kernel=6.1.0-56-cloud-amd64 "
	     "machine_id=0123456789abcdef0123456789abcdef "
	     "boot_id=0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e uptime=2.71 start=kexec lacks=keys%20of%20root\n",
	     "what the installed system says");
	text_free(&text);
}

static void test_watchdog(const char *root) {
	char device[128], wanted[128];
	struct fault fault;

	snprintf(wanted, sizeof(wanted), "%s/dev/watchdog1", root);
	ok(watchdog_find(root, "i6300esb", device, sizeof(device), &fault) == 0, "a watchdog by its driver");
	same(device, wanted, "its device");
	ok(watchdog_find(root, "sp5100_tco", device, sizeof(device), &fault) == 0 && strstr(device, "/dev/watchdog0"),
	   "one by its name alone");
	ok(watchdog_find(root, "iTCO_wdt", device, sizeof(device), &fault) < 0 && fault.code == CODE_UNSUPPORTED,
	   "a driver without hardware");
	ok(watchdog_stop(root, wanted, &fault) < 0 && fault.code == CODE_UNSUPPORTED && strstr(fault.text, "nowayout"),
	   "one that cannot be stopped is not opened");
}

int main(void) {
	const char *root = getenv("SLED_TREE");
	struct fault fault = {0};

	if (!root || !ok(scan_disks(root, &disks, &fault) == 0, "the tree is read: %s", fault.text))
		return 1;
	test_identities();
	test_numbers();
	test_unfit();
	test_page80();
	test_transport();
	test_facts(root);
	test_watchdog(root);
	disks_free(&disks);
	ok(scan_disks("/proc/none", &disks, &fault) < 0 && fault.code == CODE_FAILED,
	   "no sysfs is a failure, not an empty list");
	return tap_done();
}
