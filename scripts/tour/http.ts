/** The tour's stop at a web address: a site over TLS, with a certificate by a private authority. */
import { textFingerprint } from '@claimcheck/core/receipts'
import type { Authority } from '../../test/destinations/certificates.ts'
import { Web } from '../../test/destinations/web.ts'
import type { Stop } from './stop.ts'

const TEXT = 'Version 2 is out.\n'

export async function httpStop(authority: Authority): Promise<Stop> {
  const site = await Web.start('localhost', authority.issue(['localhost']), Date.now)
  site.serve('localhost', (_, response) => response.end(TEXT))
  const host = `localhost:${site.port}`
  return {
    place: 'A web site, over TLS',
    plugin: '@claimcheck/plugin-http',
    allowPrivate: host,
    // The process of the commands began before the authority was there.
    connect: ['site', '--untested', '--set', `base_url=https://${host}`],
    claims: [
      {
        action: 'http.url.status',
        target: `https://${host}/news`,
        params: { content_fingerprint: textFingerprint(TEXT) },
      },
    ],
    close: () => site.close(),
  }
}
