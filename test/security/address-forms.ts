/** Ways to write an address that is nobody's business: of this machine, of its network, and of what clouds tell their machines there. */

export interface AddressForm {
  readonly what: string
  /** What stands in a URL between the scheme and the path, for a port of this machine. */
  readonly authority: (port: number) => string
}

/** Hosts, each of which some program takes for 127.0.0.1 or for another private address. */
const HOSTS: readonly (readonly [what: string, host: string])[] = [
  ['plain', '127.0.0.1'],
  ['two parts', '127.1'],
  ['three parts', '127.0.1'],
  ['one number', '2130706433'],
  ['one number and more', '4294967296'],
  ['hexadecimal', '0x7f000001'],
  ['hexadecimal parts', '0x7f.0x0.0x0.0x1'],
  ['hexadecimal, in capitals', '0X7F.1'],
  ['octal', '0177.0.0.1'],
  ['octal in one', '017700000001'],
  ['octal with zeros', '0000177.0000.0000.0001'],
  ['mixed bases', '0x7f.0.0.01'],
  ['a dot at the end', '127.0.0.1.'],
  ['another of this machine', '127.255.255.254'],
  ['no address', '0.0.0.0'],
  ['no address, short', '0'],
  ['escaped', '%31%32%37%2e0%2e0%2e1'],
  ['full width', '\uff11\uff12\uff17.\uff10.\uff10.\uff11'],
  ['full-width dots', '127\uff0e0\uff0e0\uff0e1'],
  ['ideographic dots', '127\u30020\u30020\u30021'],
  ['circled digits', '\u2460\u2461\u2466.\u24ea.\u24ea.\u2460'],
  ['mathematical digits', '\u{1d7cf}\u{1d7d0}\u{1d7d5}.\u{1d7ce}.\u{1d7ce}.\u{1d7cf}'],
  ['a soft hyphen', '127.0.0.\u00ad1'],
  ['a joiner', '127.0.0\u200d.1'],
  ['a tab', '127.\t0.0.1'],
  ['a line end', '127.0.\n0.1'],
  ['IPv6', '[::1]'],
  ['IPv6, written out', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
  ['IPv6, no address', '[::]'],
  ['IPv6, mapped', '[::ffff:127.0.0.1]'],
  ['IPv6, mapped in hexadecimal', '[::ffff:7f00:1]'],
  ['IPv6, mapped and written out', '[0:0:0:0:0:ffff:7f00:0001]'],
  ['IPv6, compatible', '[::127.0.0.1]'],
  ['IPv6, translated', '[::ffff:0:127.0.0.1]'],
  ['NAT64', '[64:ff9b::127.0.0.1]'],
  ['NAT64 of one’s own', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001:0:7f00:1::]'],
  ['a zone', '[::1%25lo]'],
  ['a zone, not escaped', '[fe80::1%lo]'],
  ['link-local', '[fe80::1]'],
  ['unique local', '[fd00::1]'],
  ['site-local', '[fec0::1]'],
  ['multicast', '[ff02::1]'],
  ['private', '10.0.0.1'],
  ['private, of a home', '192.168.0.1'],
  ['private, in the middle', '172.31.255.255'],
  ['shared by a carrier', '100.64.0.1'],
  ['metadata', '169.254.169.254'],
  ['metadata as a number', '2852039166'],
  ['metadata, in octal', '0251.0376.0251.0376'],
  ['metadata over IPv6', '[fd00:ec2::254]'],
  ['metadata, mapped', '[::ffff:169.254.169.254]'],
  ['metadata of another cloud', '100.100.100.200'],
  ['metadata of a third', '192.0.0.192'],
  ['broadcast', '255.255.255.255'],
]

/** Who reads only the beginning or the end of these reads another host than who reads all. */
const TRICKS: readonly (readonly [what: string, authority: (port: number) => string])[] = [
  ['a user', (port) => `good.example@127.0.0.1:${port}`],
  ['a user and a password', (port) => `good.example:443@127.0.0.1:${port}`],
  ['two users', (port) => `a@good.example@127.0.0.1:${port}`],
  ['an escaped user', (port) => `good.example%40127.0.0.1:${port}`],
  ['a fragment', (port) => `127.0.0.1:${port}#@good.example`],
  ['a backslash', (port) => `127.0.0.1:${port}\\@good.example`],
  ['a backslash before', (port) => `good.example\\@127.0.0.1:${port}`],
  ['a query', (port) => `127.0.0.1:${port}?@good.example`],
  ['more slashes', (port) => `/127.0.0.1:${port}`],
  ['a port of zeros', (port) => `127.0.0.1:000${port}`],
  ['a hyphen before', (port) => `-oProxyCommand=x@127.0.0.1:${port}`],
]

export const ADDRESS_FORMS: readonly AddressForm[] = [
  ...HOSTS.map(([what, host]) => ({ what, authority: (port: number) => `${host}:${port}` })),
  ...TRICKS.map(([what, authority]) => ({ what, authority })),
]

/** Names that lead here without a name server, or with one that says so. */
export const LOCAL_NAMES: readonly string[] = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'localho\u017ft',
  '\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3',
  'foo.localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'metadata.google.internal',
  'rebound.example',
]
