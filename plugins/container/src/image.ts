/** Reads the names of images, `registry.example.com:5000/acme/api`: the registry's host, and the name of a repository there. */
import { parseUrl } from '@claimcheck/core/plugin'

/** The address at which Docker Hub answers the protocol of registries. */
const HUB = 'https://registry-1.docker.io'
const HUB_HOSTS: ReadonlySet<string> = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
])

export interface Image {
  /** The host in lower case, with its port where that is not the usual one; `docker.io` for Docker Hub by any of its names. */
  readonly host: string
  /** The name of the repository, `library/alpine` for Docker Hub's `alpine`. */
  readonly name: string
}

/** Reads the target of a claim. */
export function imageOf(target: string): Image {
  const at = target.indexOf('/')
  const host = normalizeHost(target.slice(0, at))
  const name = target.slice(at + 1)
  return { host, name: host === 'docker.io' && !name.includes('/') ? `library/${name}` : name }
}

function normalizeHost(text: string): string {
  const host = text.toLowerCase().replace(/:443$/, '')
  return HUB_HOSTS.has(host) ? 'docker.io' : host
}

/** The address of the registry at a host, as `docker pull` finds it. */
export function addressOf(host: string): string {
  return host === 'docker.io' ? HUB : `https://${host}`
}

/** The address of the registry that a workspace typed, without a slash at its end. */
export function typedAddress(text: string): string {
  const url = parseUrl(text)
  return url?.protocol === 'https:' && HUB_HOSTS.has(url.host) ? HUB : text.replace(/\/$/, '')
}

/** Tells whether images of this host are at an address that a workspace typed. */
export function isAt(host: string, text: string): boolean {
  const url = parseUrl(text)
  if (!url) return false
  // The port 80 is the usual one of a registry without TLS alone.
  return normalizeHost(url.host) === (url.protocol === 'http:' ? host.replace(/:80$/, '') : host)
}

/**
 * Tells whether a name is known to be one of a cache, which fetches an image of elsewhere as it is asked for it: Google's of Docker Hub, and
 * GitLab's dependency proxy.
 */
export function isCache({ host, name }: Image): boolean {
  return host === 'mirror.gcr.io' || name.includes('/dependency_proxy/containers/')
}
