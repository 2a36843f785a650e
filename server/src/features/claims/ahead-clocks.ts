/**
 * Submitters whose clock is ahead, by a claim that they dated after its submission within a day: none of their claims is fresh without a time by a
 * monotonic clock. The claims themselves record it, so that every host knows.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { Reads } from '../../storage/storage.ts'

interface AheadClocksOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'submittersAhead'> } }
}

const REMEMBERED_MS = 24 * 60 * 60_000
/** The longest time until this host notices a claim dated ahead that another request or host took. */
const KNOWN_FOR_MS = 2000

export type AheadClocks = ReturnType<typeof createAheadClocks>

export function createAheadClocks({ storage }: AheadClocksOptions) {
  let known: { readonly at: Instant; readonly submitters: Promise<ReadonlySet<string>> } | undefined

  async function read(after: Instant): Promise<ReadonlySet<string>> {
    return new Set(await storage.read.claims.submittersAhead(after))
  }

  return {
    async has(submittedBy: string, now: Instant): Promise<boolean> {
      if (known === undefined || Math.abs(now - known.at) >= KNOWN_FOR_MS) {
        const reading = { at: now, submitters: read(now - REMEMBERED_MS) }
        known = reading
        reading.submitters.catch(() => {
          if (known === reading) known = undefined
        })
      }
      return (await known.submitters).has(submittedBy)
    },
  }
}
