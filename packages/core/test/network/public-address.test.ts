import { expect, it } from "vitest";
import { OwnAddresses } from "../../src/network/own-addresses.js";
import { isPublicAddress } from "../../src/network/public-address.js";

it.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "2a00:1450:4001::1"])(
  "%s is of the public internet",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

it.each([
  ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "192.0.0.8"],
  ...[
    "168.63.129.16",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
  ],
  ...["255.255.255.255", "::", "::1", "::ffff:8.8.8.8", "::ffff:10.0.0.1", "::8.8.8.8", "64:ff9b::a00:1"],
  ...["64:ff9b:1::1", "100::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd12::1", "ff02::1"],
  ...["2001:db8::1", "2001::1", "2002:a00:1::", "3fff::1", "4000::1", "5f00::1", "", "localhost", "10.1"],
])("%j is not", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

it("addresses of this machine and of its links are its own, also public ones", () => {
  const common = { mac: "00:00:00:00:00:00", internal: false };
  const own = new OwnAddresses(() => ({
    eth0: [
      { ...common, address: "93.184.216.34", netmask: "255.255.255.0", family: "IPv4", cidr: "93.184.216.34/24" },
      {
        ...common,
        address: "2a00:1:2:3::5",
        netmask: "ffff:ffff:ffff:ffff::",
        family: "IPv6",
        scopeid: 0,
        cidr: "2a00:1:2:3::5/64",
      },
      {
        ...common,
        address: "fe80::5",
        netmask: "ffff:ffff:ffff:ffff::",
        family: "IPv6",
        scopeid: 2,
        cidr: "fe80::5/64",
      },
    ],
  }));
  expect(["93.184.216.34", "2a00:1:2:3::5", "2a00:1:2:3:ffff::1"].map((address) => own.has(address))).toEqual([
    true,
    true,
    true,
  ]);
  expect(["93.184.216.35", "2a00:1:2:4::5", "1.1.1.1"].map((address) => own.has(address))).toEqual([
    false,
    false,
    false,
  ]);
  expect(new OwnAddresses().has("127.0.0.1")).toBe(true);
});
