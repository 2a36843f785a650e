/** The state of a claim as an exit code, and in lines for a person. */
import type { ClaimStatus } from '@claimcheck/client'
import { typed } from '@claimcheck/command-line/typed'
import { visible } from '@claimcheck/core/words/plain-text'
import { REASON_WORDS, VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import type { Paint, Tone } from '../verify/style.ts'

/** Exit codes by verdict. 1 and 2 are those of every command: it failed, or its arguments are invalid. */
const EXIT_CODES = { verified: 0, late: 3, mismatch: 4, failed: 5, unverifiable: 6, queued: 7 } as const

export const VERDICTS: readonly string[] = Object.keys(EXIT_CODES).filter((name) => name !== 'queued')

const EXIT_FAILED = 1

export const EXIT_HELP = `\nExit code: ${Object.entries(EXIT_CODES)
  .map(([name, code]) => `${code} ${name}`)
  .join(', ')}; 1 the command failed, 2 invalid arguments.`

export function exitCodeOf({ verdict }: Pick<ClaimStatus, 'verdict'>): number {
  if (verdict === null) return EXIT_CODES.queued
  // A newer service may have more verdicts than this command knows.
  return Object.hasOwn(EXIT_CODES, verdict) ? EXIT_CODES[verdict] : EXIT_FAILED
}

/** The exit code for many claims: 0 where all are verified, else the code of the first that is not. */
export function exitCodeOfAll(claims: readonly Pick<ClaimStatus, 'verdict'>[]): number {
  return claims.map(exitCodeOf).find((code) => code !== 0) ?? 0
}

const TONES: Readonly<Record<string, Tone>> = { verified: 'good', mismatch: 'bad', failed: 'bad' }

/** Lines about a claim: the verdict, then what was claimed, then what to do next. */
export function claimLines(claim: ClaimStatus, url: string, paint: Paint): string[] {
  const { claim_id: id, action, target, verdict, reason_code: reason, receipt_id: receipt } = claim
  const about = `  ${visible(action)} at ${visible(target)}`
  if (verdict === null) {
    return [
      paint(
        'doubtful',
        `queued: not decided yet, after ${checks(claim)}. Claimcheck looks again until ${visible(claim.deadline_at)}.`,
      ),
      about,
      `  claim ${visible(id)}`,
      `  follow it with: ${typed(`claims watch ${visible(id)}`)}`,
    ]
  }
  const why = reason === null ? '' : ` ${wordOf(REASON_WORDS, reason) ?? visible(reason)}`
  return [
    paint(wordOf(TONES, verdict) ?? 'doubtful', `${visible(verdict)}: ${wordOf(VERDICT_WORDS, verdict) ?? ''}${why}`),
    about,
    `  claim ${visible(id)}`,
    ...(receipt === null ? [] : [`  receipt ${receiptPage(url, receipt)}`]),
  ]
}

/** Looks a name up in a table. The name may be any text. */
function wordOf<T>(words: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined
}

/** Writes a claim in one line, for `watch`. */
export function claimLine(claim: ClaimStatus): string {
  const { claim_id: id, verdict, receipt_id: receipt, next_check_at: next, target } = claim
  const stand = verdict === null ? `queued, ${checks(claim)}${next === null ? '' : `, next at ${next}`}` : verdict
  return visible([id, target, stand, receipt ?? ''].filter(Boolean).join('  '))
}

/** The address of the page on which people read a receipt. */
export function receiptPage(url: string, receiptId: string): string {
  return `${url}/r/${encodeURIComponent(receiptId)}`
}

function checks({ attempts }: ClaimStatus): string {
  return attempts === 1 ? '1 check' : `${attempts} checks`
}
