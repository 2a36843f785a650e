/** Names of hosts by which a machine reaches itself, as URLs write them, and without the brackets of IPv6. */

const ADDRESS = /^(127(\.\d+){3}|\[::1\]|::1)$/

export function isLoopbackAddress(host: string): boolean {
  return ADDRESS.test(host)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host)
}
