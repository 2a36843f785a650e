/** The tour's stop at a web address: a site over TLS, with a certificate by a private authority. */
import { createRequire } from 'node:module'
import { textFingerprint } from '@claimcheck/core/receipts'
import { Authority } from '../../test/destinations/certificates.ts'
import { Web } from '../../test/destinations/web.ts'
import type { Stop } from './stop.ts'

const TEXT = 'Version 2 is out.\n'

export async function httpStop(): Promise<Stop> {
  const authority = new Authority()
  const site = await Web.start('localhost', authority.issue(['localhost']), Date.now)
  site.serve('localhost', (_, response) => response.end(TEXT))
  const host = `localhost:${site.port}`
  return {
    place: 'A web site, over TLS',
    plugin: { use: createRequire(import.meta.url).resolve('@claimcheck/plugin-http') },
    allowPrivate: host,
    env: { NODE_EXTRA_CA_CERTS: authority.file },
    // The service knows the authority from its start; the process of the commands began before it.
    connect: ['site', '--untested', '--set', `base_url=https://${host}`],
    claims: [
      {
        action: 'http.url.status',
        target: `https://${host}/news`,
        params: { content_fingerprint: textFingerprint(TEXT) },
      },
    ],
    async close() {
      await site.close()
      authority.remove()
    },
  }
}
