/** A receipt in words for people, as plain data: made from the documents of a bundle alone, so that a page and a checker say the same. */

import { type PublishedWords, publishedWords } from '@claimcheck/core/hosting'
import {
  type Bundle,
  type BundleReport,
  caseOf,
  claimSentence,
  type EvidenceDocument,
  factSentences,
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
import { timelineOf } from './timeline.ts'

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

export function headingOf({ tone }: { readonly tone: Tone }): string {
  return HEADINGS[tone]
}

/** Returns the look of a receipt of which every check holds. */
export function soundTone(verdict: VerdictValue, { isListed }: Pick<Destination, 'isListed'>): Tone {
  return verdict === 'verified' && !isListed ? 'unlisted' : verdict
}

export type ReceiptView = NonNullable<ReturnType<typeof viewOf>>

/**
 * Makes the view of a receipt; undefined for a document that is no receipt.
 * @param report the result of a checker: evidence that does not follow is not shown
 */
export function viewOf(bundle: Bundle, report: BundleReport, origin: Origin = {}) {
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
    /** Sentences on the time and the place of the read. */
    when: whenOf(body, destination),
    /** The claim in one sentence; undefined where the words of the action are unknown. */
    claimed: own && claimSentence(own, named),
    sentences: own ? factSentences(own, named) : [],
    /** A stranger's words, to stand apart under "The plugin says". */
    pluginSays: pluginSays(decided),
    fields,
    destination,
    timeline: timelineOf(receipt, evidence),
    agent: withPunycode(body.agent.id),
    /** Sentences about the agent beyond its id. */
    agentSentences: agentSentences(body.agent),
    action: claim.action,
    /** The name of the issuer; undefined where it gives none. */
    issuer: body.issuer.name === undefined ? undefined : withPunycode(body.issuer.name),
    keyId: body.issuer.key_id,
    checkedBy: pluginWords(observation.verifier),
    profileVersion: `${id}, version ${version}`,
    proof: proof as Proof | undefined,
    /** Sentences about what the receipt does not show. */
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
      target: words?.words.target,
      found: words?.words.found,
      required: publishedRules(profiles)(id, version)?.required ?? {},
    },
  })
}

/**
 * Writes the finding, in the words of the action where they are known, and its reason. Those words say the outcome in one sentence; without them, a
 * title of a few words needs its reason.
 */
function findingOf(decided: Decided): { readonly finding: string; readonly reason: string | undefined } {
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
