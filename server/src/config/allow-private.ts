/** ALLOW_PRIVATE: the hosts that outgoing requests may reach although they are private or use plain http. */

/**
 * Tells whether the operator lists a place.
 * @param place a URL, or the parts of one
 * @param allowPrivate entries of ALLOW_PRIVATE: `host` or `host:port`
 */
export function isAllowed(
  { hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>,
  allowPrivate: readonly string[],
): boolean {
  const explicit = port || (protocol === 'https:' ? '443' : '80')
  return allowPrivate.includes(hostname) || allowPrivate.includes(`${hostname}:${explicit}`)
}
