/** Reports on commits: decided claims in the words of a status, a check run and a comment at a code host. */
import type { JsonObject, VerdictValue } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { REASON_WORDS, VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import type { ReportedClaim } from '../../storage/webhooks.ts'
import { publicPaths } from '../../web/paths.ts'

/** The beginning of the name of every report: verifiers of code hosts know our own by it. */
const NAME = 'claimcheck/'
/** The longest description that GitHub takes of a status. */
const LONGEST = 140
const LONGEST_WORDS = 200
/** The most claims in a comment. */
const MOST = 20

/** The first line of our comment, by which it is found again. Hosts do not show it. */
export const MARKER = '<!-- claimcheck: the claims about this pull request -->'

/** The report of one claim. */
export interface Report {
  readonly sha: string
  /** The number of the pull request that the claim names. */
  readonly number: number | undefined
  readonly name: string
  readonly verdict: VerdictValue
  /** Sentences of ours alone. */
  readonly words: string
  readonly link: string
}

/**
 * Makes the report of a claim; undefined for one that leads to no commit.
 * @param facts the facts of the last look: the head of a pull request is the one that the host showed, and not the one that was claimed
 * @param own this service's own address, without a slash at the end
 */
export function reportOf(claim: ReportedClaim, facts: JsonObject, own: string): Report | undefined {
  const { params, verdict, receiptId } = claim
  const isGood = verdict === 'verified' || verdict === 'late'
  const [claimed, found] = [params.head_sha, facts.head_sha]
  // A log may show that a head was there in time that is no longer: its verdict is not about the present one.
  if (isGood && isSha(claimed) && isSha(found) && claimed !== found) return undefined
  // The head that a claim names is one's own only where the host showed it: else anybody could turn another's commit red.
  const sha = [found, isGood ? claimed : undefined, params.sha].find(isSha)
  if (sha === undefined || verdict === null || receiptId === null) return undefined
  return {
    ...{ sha, number: numberOf(claim), name: `${NAME}${claim.profileAction}`, verdict },
    words: wordsOf(claim),
    link: own + publicPaths.receipt(receiptId),
  }
}

/** Tells whether a claim that was submitted later says the same of the same commit or pull request: that one is reported in its place. */
export function isOvertaken(claim: ReportedClaim, all: readonly ReportedClaim[]): boolean {
  return all.some((other) => subjectOf(other) === subjectOf(claim) && isLater(other, claim))
}

/** Writes the one comment on a pull request: of each action the claim that was submitted last. */
export function commentOf(number: number, sha: string, all: readonly ReportedClaim[], own: string): string {
  const isOfIt = (claim: ReportedClaim) =>
    numberOf(claim) === number || (numberOf(claim) === undefined && claim.params.sha === sha)
  const ofIt = all.filter(isOfIt).sort((one, other) => (isLater(one, other) ? 1 : -1))
  const newest = [...new Map(ofIt.map((claim) => [claim.profileAction, claim])).values()]
  const lines = newest.slice(0, MOST).flatMap((claim) => {
    if (claim.verdict === null || claim.receiptId === null) return []
    const by = claim.agentId === '' ? '' : ` by ${code(claim.agentId)}`
    const receipt = `[Receipt](${own}${publicPaths.receipt(claim.receiptId)})`
    return [`- **${claim.verdict}**: ${code(claim.profileAction)}${by}. ${wordsOf(claim)} ${receipt}`]
  })
  const head = 'Claimcheck looked at what agents say that they did here.'
  return [MARKER, head, '', ...lines].join('\n')
}

/** Writes words of others as code, in which hosts see no mention, link, picture, reference or HTML. */
export function code(words: string): string {
  const line = visibleName(words.normalize('NFKC').replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
  const cut = [...line].slice(0, LONGEST_WORDS).join('').replaceAll('`', "'").trim()
  return cut === '' ? '' : `\`${cut}\``
}

/** Says what a verdict means, in sentences of ours, as far as they are short enough for a status. */
function wordsOf({ verdict, reasonCode }: ReportedClaim): string {
  const words = `${title(verdict!)}. ${VERDICT_WORDS[verdict!]}`
  const more = reasonCode === null ? words : `${words} ${REASON_WORDS[reasonCode]}`
  return more.length <= LONGEST ? more : words
}

function title(verdict: VerdictValue): string {
  return `${verdict.slice(0, 1).toUpperCase()}${verdict.slice(1)}`
}

function subjectOf(claim: ReportedClaim): string {
  return JSON.stringify([claim.profileAction, numberOf(claim) ?? claim.params.sha])
}

function numberOf({ params: { number } }: ReportedClaim): number | undefined {
  return Number.isSafeInteger(number) && Number(number) > 0 ? Number(number) : undefined
}

function isLater(one: ReportedClaim, other: ReportedClaim): boolean {
  return (
    one.submittedAt - other.submittedAt > 0 || (one.submittedAt === other.submittedAt && one.claimId > other.claimId)
  )
}

function isSha(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)
}
