/** What an issuer publishes of the actions that it judges: the rules, and the words for people. Both only add to what a receipt shows. */
import { type PublishedRules, publishedRules, publishedWords, type Receipt } from '@claimcheck/core'
import type { IssuerWords } from './receipt-summary.ts'
import { tryReading } from './source.ts'

export interface PublishedProfiles {
  readonly rules: PublishedRules
  /** Undefined where nobody was asked, or nobody tells any. */
  wordsFor(receipt: Receipt): IssuerWords | undefined
}

/** @param issuer any URL of the issuer's host; nothing is published where there is none */
export async function readProfiles(issuer: string | undefined): Promise<PublishedProfiles> {
  const url = issuer === undefined ? undefined : new URL('/v1/profiles', issuer)
  const text = (url && (await tryReading(url.href)).text) ?? ''
  const wordsOf = publishedWords(text)
  return {
    rules: publishedRules(text),
    wordsFor({ body }) {
      const { id, version } = body.observation.verifier
      const words = wordsOf(id, version)
      return words && { host: url!.host, words }
    },
  }
}
