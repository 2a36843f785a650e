/** What the checker reports, in words for people; a problem of the anchor comes with its code. */
import type { Report } from '@claimcheck/core'

/** What is not known, as distinct from what is known not to hold. */
const COULD_NOT_CHECK: ReadonlySet<string> = new Set(['unreadable', 'rpc_chain_mismatch', 'consistency_proof_required'])

export function describeReport({ valid, verdict, achieved_trust_level, checks, proven_by }: Report): string[] {
  const { anchor, ...others } = checks
  const width = Math.max(...Object.keys(checks).map((name) => name.length))
  const line = (name: string, words: string) => `  ${name.padEnd(width)}  ${words}`
  return [
    valid ? `valid: ${verdict ?? 'change entry'}, trust level ${achieved_trust_level}` : 'NOT valid',
    ...Object.entries(others).map(([name, outcome]) => line(name, inWords(outcome))),
    line('anchor', anchorInWords(anchor, proven_by)),
  ]
}

function inWords(outcome: string | boolean): string {
  if (outcome === true) return 'holds'
  return outcome === false ? 'DOES NOT HOLD' : outcome.replaceAll('_', ' ')
}

function anchorInWords(anchor: Report['checks']['anchor'], provenBy: string | undefined): string {
  if (anchor === 'absent') return 'absent'
  if (anchor === 'not_checked_offline') return 'not checked'
  if (anchor === 'anchored') return `holds: it existed by ${provenBy}`
  return COULD_NOT_CHECK.has(anchor) ? `could not be checked: ${anchor}` : `DOES NOT HOLD: ${anchor}`
}
