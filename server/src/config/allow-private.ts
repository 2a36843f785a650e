/** Lists of the hosts that outgoing requests may reach although they are private or use plain http, such as ALLOW_PRIVATE. */
import { parseUrl, Type } from '@claimcheck/core/plugin'
import type { Report } from './section.ts'

/** The schema of such a list in the configuration file. */
export const HOSTS = Type.Array(Type.String({ maxLength: 300 }), { maxItems: 1000 })

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

/**
 * Reads a list of hosts, in their normal form.
 * @param name the name of the list, for error messages
 */
export function readHosts(given: readonly string[], name: string, report: Report): string[] {
  return given
    .map((entry) => entry.trim())
    .filter(Boolean)
    .flatMap((entry, index) => {
      const normal = hostAndPort(entry)
      // The message does not repeat the entry, which may be a URL with a password.
      if (!normal) report(`${name}: entry ${index + 1} is not a host or host:port; give each host an entry`)
      return normal ?? []
    })
}

/** Normalizes the entry as URLs do, so that one host has one spelling; undefined when it is not `host` or `host:port`. */
function hostAndPort(entry: string): string | undefined {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(entry) ?? []
  const url = host === undefined ? undefined : parseUrl(`http://${host}`)
  if (!url || Number(port ?? 1) > 65_535) return undefined
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`
}
