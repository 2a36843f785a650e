/** Reads the names of objects, `BUCKET/KEY`, and writes their addresses in path style. */
import { DestinationError, parseUrl } from '@claimcheck/core/plugin'

const LONGEST_KEY_BYTES = 1024

export interface ObjectName {
  readonly bucket: string
  readonly key: string
}

/** Reads the target of a claim. Everything behind the first slash is the key. */
export function objectOf(target: string): ObjectName {
  const at = target.indexOf('/')
  return { bucket: target.slice(0, at), key: target.slice(at + 1) }
}

/**
 * Writes the path of a key, in which each character but a slash is encoded.
 * @throws DestinationError `unsupported_target` for a key of which a part is `.` or `..`, because clients and proxies resolve it to another key
 */
export function keyPath(key: string): string {
  const isTooLong = new TextEncoder().encode(key).length > LONGEST_KEY_BYTES
  const hasDots = key.split(/[/\\]/).some((part) => part === '.' || part === '..')
  // Half of a pair has no UTF-8, and a zero byte ends a name in some services.
  if (isTooLong || hasDots || /\p{Surrogate}|\0/u.test(key)) throw new DestinationError('unsupported_target')
  return key.split('/').map(encode).join('/')
}

export function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

/**
 * The address of a service, without a slash at its end.
 * @throws DestinationError `misconfigured` for an address of Amazon's that has a bucket in its name: a path below it is a key of that bucket
 */
export function endpointOf(base_url: string): string {
  const host = parseUrl(base_url)?.hostname ?? ''
  const isAmazon = /\.amazonaws\.com(?:\.cn)?$/.test(host)
  if (isAmazon && !/^s3[.-]/.test(host) && !host.includes('.vpce.')) throw new DestinationError('misconfigured')
  return base_url.replace(/\/+$/, '')
}
