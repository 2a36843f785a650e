/** A receipt in words for people, as plain data: made from the documents of a bundle alone, so that a page and a checker say the same. */

import { type PublishedWords, publishedWords } from '@claimcheck/core/hosting'
import { claimSentence, factSentences } from '@claimcheck/core/plugin'
import {
  type Bundle,
  type BundleReport,
  caseOf,
  type EvidenceDocument,
  isReceipt,
  isUnvouched,
  type Proof,
  publishedRules,
  type Receipt,
  type ReceiptBody,
} from '@claimcheck/core/receipts'
import { type JsonValue, parseInstant, type VerdictValue } from '@claimcheck/core/rules'
import { agentSentences } from '@claimcheck/core/words/agents'
import { withPunycode } from '@claimcheck/core/words/look-alikes'
import { pluginWords } from '@claimcheck/core/words/plugins'
import { gapWords, vouchedFor } from '@claimcheck/core/words/verdicts'
import { offsetFrom, utc } from '@claimcheck/core/words/when'
import { type ComparedField, comparisonOf } from './comparison.ts'
import { type Destination, destinationOf } from './destination.ts'
import { type Decided, decidedBy, headlineOf, pluginSays, reasonOf } from './headline.ts'
import { anyFails, type Origin, stepsOf } from './steps.ts'
import { type Timeline, timelineOf } from './timeline.ts'

/**
 * The look of a receipt: `unlisted` is a verified one that was read where its issuer vouches for nothing. It is never
 * green, and neither is a `doubtful` one, of which a check failed, nor an `unvouched` one: nothing shows who signed it.
 */
export type Tone = VerdictValue | 'unlisted' | 'doubtful' | 'unvouched'

const HEADINGS: Readonly<Record<Tone, string>> = {
  verified: 'Verified',
  unlisted: 'Verified, at a destination that the issuer does not list',
  late: 'Late',
  mismatch: 'Mismatch',
  failed: 'Failed',
  unverifiable: 'Unverifiable',
  doubtful: 'Do not rely on this: a proof fails',
  unvouched: 'Signed by a key that nothing vouches for',
}

export function headingOf({ tone }: Pick<ReceiptView, 'tone'>): string {
  return HEADINGS[tone]
}

/** Returns the look of a receipt of which every check holds. */
export function soundTone(verdict: VerdictValue, { isListed }: Pick<Destination, 'isListed'>): Tone {
  return verdict === 'verified' && !isListed ? 'unlisted' : verdict
}

export interface ReceiptView {
  readonly receiptId: string
  readonly verdict: VerdictValue
  readonly tone: Tone
  /** The outcome, in the words of the action where they are known. */
  readonly finding: string
  /** The reason in a sentence; undefined where the finding says it all. */
  readonly reason: string | undefined
  /** Sentences on the time and the place of the read. */
  readonly when: string
  /** The claim in one sentence; undefined where the words of the action are unknown. */
  readonly claimed: string | undefined
  readonly sentences: readonly string[]
  /** A stranger's words, to stand apart under "The plugin says". */
  readonly pluginSays: readonly string[]
  readonly fields: readonly ComparedField[]
  readonly destination: Destination
  readonly timeline: Timeline
  /** The agent's id, and the issuer's name below, as `withPunycode` writes them. */
  readonly agent: string
  /** Sentences about the agent beyond its id. */
  readonly agentSentences: readonly string[]
  readonly action: string
  /** The name of the issuer; undefined where it gives none. */
  readonly issuer: string | undefined
  readonly keyId: string
  readonly checkedBy: string | undefined
  readonly profileVersion: string
  readonly proof: Proof | undefined
  /** Sentences about what the receipt does not show. */
  readonly limits: readonly string[]
}

/**
 * Makes the view of a receipt; undefined for a document that is no receipt.
 * @param report the result of a checker: evidence that does not follow is not shown
 */
export function viewOf(bundle: Bundle, report: BundleReport, origin: Origin = {}): ReceiptView | undefined {
  const receipt = readReceipt(bundle.receipt)
  if (!receipt) return undefined
  const { body, proof } = receipt
  const { claim, observation, verdict } = body
  const { id, version } = observation.verifier
  // Words of an action are unsigned: the maker of a file could say anything with them.
  const profiles = origin.isGiven ? '' : (bundle.profiles ?? '')
  const words = publishedWords(profiles)(id, version)
  const evidence = evidenceOf(bundle, report)
  const destination = destinationOf(observation.source)
  const named = { target: claim.target, params: claim.params, facts: observation.facts }
  const fields = fieldsOf(body, words, profiles, evidence)
  const toleranceMs = evidence?.rules.tolerance_ms
  const isForeign = words?.plugin_says !== undefined
  const decided = { ...decidedBy(receipt), fields, worded: words, isForeign, toleranceMs }
  const own = isForeign ? undefined : words
  return {
    receiptId: body.receipt_id,
    verdict: verdict.value,
    tone: toneOf(verdict.value, destination, report, anyFails(stepsOf(report, proof, origin))),
    ...findingOf(decided),
    when: whenOf(body, destination),
    claimed: own && claimSentence(own, named),
    sentences: own ? factSentences(own, named) : [],
    pluginSays: pluginSays(decided),
    fields,
    destination,
    timeline: timelineOf(receipt, evidence),
    agent: withPunycode(body.agent.id),
    agentSentences: agentSentences(body.agent),
    action: claim.action,
    issuer: body.issuer.name === undefined ? undefined : withPunycode(body.issuer.name),
    keyId: body.issuer.key_id,
    checkedBy: pluginWords(observation.verifier),
    profileVersion: `${id}, version ${version}`,
    proof,
    limits: [vouchedFor(verdict.value), gapWords(observation.largest_gap_ms), CHECKS_LIMIT, own && WORDS_LIMIT].filter(
      (text) => text !== undefined,
    ),
  }
}

function toneOf(verdict: VerdictValue, destination: Destination, report: BundleReport, fails: boolean): Tone {
  if (fails || !(report.valid || isUnvouched(report))) return 'doubtful'
  if (!report.valid) return 'unvouched'
  return soundTone(verdict, destination)
}

const CHECKS_LIMIT =
  'The checks are the issuer’s word: the evidence shows that verdict and checks agree, not that no check was left out.'
const WORDS_LIMIT =
  'The sentences here are the words that the issuer publishes for this action. The signature is over the data below.'

function readReceipt(text: string): Receipt | undefined {
  try {
    const document = JSON.parse(text) as JsonValue
    return isReceipt(document) ? document : undefined
  } catch {
    return undefined
  }
}

function fieldsOf(
  { claim, observation, verdict }: ReceiptBody,
  words: PublishedWords | undefined,
  profiles: string,
  evidence: EvidenceDocument | undefined,
): readonly ComparedField[] {
  const { id, version } = observation.verifier
  return comparisonOf({
    claim,
    facts: observation.facts,
    verdict: verdict.value,
    reason: verdict.reason_code,
    differs: evidence && differsAt(evidence, observation.observed_at),
    titles: {
      ...words?.titles,
      ...(words ? { target: words.words.target, found: words.words.found ?? {} } : {}),
      required: publishedRules(profiles)(id, version)?.required ?? {},
    },
  })
}

/**
 * Writes the finding and its reason. The words of the action say the outcome in one sentence; without them, a title of a few words needs its reason.
 */
function findingOf(decided: Decided): Pick<ReceiptView, 'finding' | 'reason'> {
  const [title, reason] = [headlineOf(decided), reasonOf(decided)]
  if (decided.verdict === 'verified') return { finding: title, reason: undefined }
  if (decided.verdict === 'unverifiable' || !decided.worded || decided.isForeign) return { finding: title, reason }
  return { finding: reason.replace(/\.$/, ''), reason: undefined }
}

function whenOf({ claim, observation, issued_at, verdict }: ReceiptBody, { short }: Destination): string {
  const claimedAt = parseInstant(claim.claimed_at)!
  const { appeared, observed_at, deadline_at } = observation
  const observedAt = parseInstant(observed_at)!
  const at = short === undefined ? '' : ` at ${short}`
  if (verdict.value === 'unverifiable') return `Claimcheck decided this at ${utc(parseInstant(issued_at)!)}.`
  if (appeared && (verdict.value === 'verified' || verdict.value === 'late')) {
    const by = parseInstant(appeared.not_after)!
    return `It was there${at} by ${utc(by)}, ${offsetFrom(claimedAt, by)} the agent claimed it.`
  }
  const deadline = `The deadline was ${utc(parseInstant(deadline_at)!)}.`
  return `Claimcheck read this${at} at ${utc(observedAt)}, ${offsetFrom(claimedAt, observedAt)} the agent claimed it. ${deadline}`
}

/** Finds the evidence; undefined where there is none, or none that the receipt signs. */
function evidenceOf({ evidence }: Bundle, report: BundleReport): EvidenceDocument | undefined {
  if (evidence === undefined || report.evidence?.evidence !== 'follows') return undefined
  try {
    const document = JSON.parse(evidence) as EvidenceDocument
    caseOf(document)
    return document
  } catch {
    return undefined
  }
}

/** Lists the fields that differed in the read of that time. */
function differsAt({ checks }: EvidenceDocument, observedAt: string): readonly string[] | undefined {
  const check = checks.findLast(({ answered_at }) => answered_at === observedAt)
  return check && 'differs' in check ? check.differs : undefined
}
