/** ALLOW_PRIVATE: the hosts that outgoing requests may reach although they are private or use plain http. */

/** @param allowPrivate entries of ALLOW_PRIVATE: `host` or `host:port` */
export function isAllowed({ hostname, port, protocol }: URL, allowPrivate: readonly string[]): boolean {
  const explicit = port || (protocol === 'https:' ? '443' : '80')
  return allowPrivate.includes(hostname) || allowPrivate.includes(`${hostname}:${explicit}`)
}
