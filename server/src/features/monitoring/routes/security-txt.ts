/** The route that says where to report a weakness of this installation (RFC 9116). */
import type { Instant } from '@claimcheck/core/rules'
import type { App } from '../../../http/instance.ts'

interface SecurityContact {
  /** A URI: `mailto:`, `https:` or `tel:`. */
  readonly contact: string
  /** The address of the service. Undefined where clients reach it at more than one. */
  readonly publicUrl: string | undefined
  readonly now: () => Instant
}

const PATH = '/.well-known/security.txt'
const DAY_MS = 24 * 60 * 60_000
/** The time within which whoever kept the file reads it again. RFC 9116 2.5.5 asks for less than a year. */
const VALID_DAYS = 90

export function securityTxtRoute(app: App, { contact, publicUrl, now }: SecurityContact): void {
  app.get(PATH, { schema: { hide: true } }, async (_request, reply) => {
    // The same text all day, so that caches can hold it.
    const today = Math.floor(now() / DAY_MS) * DAY_MS
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${new Date(today + VALID_DAYS * DAY_MS).toISOString()}`,
      // RFC 9116 2.5.2: an address with https.
      ...(publicUrl?.startsWith('https:') ? [`Canonical: ${new URL(publicUrl).origin}${PATH}`] : []),
    ]
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`)
  })
}
