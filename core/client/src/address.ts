/** The address of the service, to which the key is sent: over https, or on this machine. */

/**
 * Without a slash at its end.
 * @throws TypeError for what is no address of a service, and for one that others on the way can read and change
 */
export function serviceAddress(text: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must be an https address without user, query or fragment')
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new TypeError(
      `baseUrl must be https: others on the way to ${url.host} could read the key. In a network that you trust, pass allowHttp: true`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
