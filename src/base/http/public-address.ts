import { BlockList, isIP } from 'node:net';

// Two lists: in a single list, an IPv6 rule that covers ::ffff:0:0/96 would match every IPv4 address.
const blockedV4 = new BlockList();
const blockedV6 = new BlockList();

for (const [network, prefix] of [
  ['0.0.0.0', 8], // "this network": 0.0.0.0 is the machine itself
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and the metadata service of one cloud
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a cloud's host agent on an address that looks public
  ['169.254.0.0', 16], // link-local, and the metadata service of most clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
] as const) {
  blockedV4.addSubnet(network, prefix, 'ipv4');
}

// Public IPv6 is 2000::/3. The first three rows block everything outside it: ::, ::1, IPv4-mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96,
// 64:ff9b:1::/48), unique local (fc00::/7), link-local (fe80::/10), site-local and multicast.
for (const [network, prefix] of [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23], // Teredo, which carries an IPv4 address, and other special uses
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4 carries an IPv4 address
  ['3fff::', 20], // documentation
] as const) {
  blockedV6.addSubnet(network, prefix, 'ipv6');
}

/** True for an address of the public internet. False for every address that is not clearly public, and for text that is no address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blockedV4.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && !blockedV6.check(address, 'ipv6');
    default:
      return false;
  }
}
