/** The route that says where to report a weakness of this installation (RFC 9116). */
import type { Instant } from '@claimcheck/core/rules'
import type { App } from '../../../http/instance.ts'

interface SecurityContact {
  /** The URI at which to report a weakness: `mailto:`, `https:` or `tel:`. */
  readonly contact: string
  /** The address of the service; undefined where clients reach it at more than one. */
  readonly publicUrl: string | undefined
  readonly now: () => Instant
}

const PATH = '/.well-known/security.txt'
const DAY_MS = 24 * 60 * 60_000
/** The number of days within which readers of the file read it again. RFC 9116 2.5.5 asks for less than a year. */
const VALID_DAYS = 90

export function securityTxtRoute(app: App, { contact, publicUrl, now }: SecurityContact): void {
  app.get(PATH, { schema: { hide: true } }, async (_request, reply) => {
    // One text holds all day, so that caches can keep it.
    const today = Math.floor(now() / DAY_MS) * DAY_MS
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${new Date(today + VALID_DAYS * DAY_MS).toISOString()}`,
      // RFC 9116 2.5.2 asks for an address with https.
      ...(publicUrl?.startsWith('https:') ? [`Canonical: ${new URL(publicUrl).origin}${PATH}`] : []),
    ]
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`)
  })
}
