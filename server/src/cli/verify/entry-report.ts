/** What the check of a receipt or change entry found, in lines for a person: the answer first, then what it says, then each check. */
import { type AnchorProblem, isReceipt, type JsonObject, type JsonValue, type Report } from '@claimcheck/core'
import type { CheckedEvidence } from './evidence-check.ts'
import { evidenceLine } from './evidence-report.ts'
import { type Fact, factLines } from './facts.ts'
import { type IssuerWords, receiptSummary, type Summary } from './receipt-summary.ts'
import { type Paint, visible } from './style.ts'

export interface EntryReportOptions {
  readonly report: Report
  /** The document as it was read; null where it is no JSON. */
  readonly document: JsonValue
  /** Why the document is nothing that can be checked. */
  readonly problem: string | undefined
  readonly hasPipeline: boolean
  /** Undefined for what is not valid or no receipt, and for a receipt that signs no evidence. */
  readonly evidence: CheckedEvidence | undefined
  /** Undefined where nobody was asked, or nobody tells any. */
  readonly words: IssuerWords | undefined
  /** What is not as the options ask, although the receipt is valid. */
  readonly shortcomings: readonly string[]
  readonly paint: Paint
}

export function entryReport(options: EntryReportOptions): string[] {
  const { report, document, problem, evidence, words, shortcomings, paint } = options
  if (problem !== undefined) return [paint('bad', `NOT valid: ${problem}.`)]
  if (!report.valid) {
    return [paint('bad', `NOT valid: ${firstFailure(report)}.`), '', ...checkLines(options)]
  }
  const summary = isReceipt(document) ? receiptSummary(document, words) : changeSummary(document as JsonObject)
  return [
    ...shortcomings.map((text) => paint('bad', `NOT as asked: the receipt is valid, but ${text}.`)),
    paint(shortcomings.length > 0 ? 'doubtful' : 'good', summary.heading),
    '',
    ...factLines(shown(summary.facts)),
    '',
    ...summary.lists.flatMap(({ heading, facts }) => [`${heading}:`, ...factLines(shown(facts)), '']),
    ...summary.sentences.map((sentence) => visible(sentence)),
    ...(summary.sentences.length > 0 ? [''] : []),
    ...(isReceipt(document) ? [evidenceLine(evidence, paint)] : []),
    trustLevel(options),
    '',
    ...checkLines(options),
  ]
}

function changeSummary({ body }: JsonObject): Summary {
  const { change_id, connector, event, target, seen_at, issued_at } = body as Readonly<Record<string, string>>
  return {
    heading: 'Valid change entry: the issuer saw a change at a destination that it watches.',
    facts: [
      ['event', event],
      ['target', target],
      ['connector', connector],
      ['seen at', seen_at],
      ['issued at', issued_at],
      ['change', change_id],
    ],
    lists: [],
    sentences: [],
  }
}

/** The issuer's texts, and those of the agent. */
function shown(facts: readonly Fact[]): readonly Fact[] {
  return facts.map(([name, value]) => [visible(name), value === undefined ? undefined : visible(value)])
}

/** Why the level that was achieved is lower than the one that is stated, and what would raise it. */
function trustLevel({ report, document, paint }: EntryReportOptions): string {
  const { achieved_trust_level: achieved, checks, proven_by } = report
  const { body, proof } = document as { body: JsonObject; proof?: { anchor?: { chain: string } } }
  const stated = Number(body.trust_level)
  if (achieved === 2) {
    const level = `Trust level 2: signed, in the log, and anchored. It existed by ${proven_by}.`
    return stated > 2 ? `${level} It states level ${stated}, which this command cannot check.` : level
  }
  if (stated === 1) return 'Trust level 1, as it states: signed.'
  const level = `Trust level 1 of ${stated}: signed, but`
  return paint('doubtful', `${level} ${lackOf(checks, proof?.anchor?.chain)}`)
}

function lackOf({ inclusion, anchor }: Report['checks'], chain: string | undefined): string {
  if (inclusion === 'absent') return 'without a proof that it is in the log. Fetch it again from its issuer.'
  if (anchor === 'absent') return 'not anchored yet. Fetch it again from its issuer later.'
  if (anchor === 'not_checked_offline') {
    return `its anchor was not checked. Pass --rpc URL, a node of the chain ${visible(chain ?? '')}.`
  }
  return `its anchor ${isUnknown(anchor) ? 'could not be checked' : 'does not hold'}: see below.`
}

type CheckName = keyof Report['checks']

const FAILURES: Readonly<Record<Exclude<CheckName, 'anchor'>, string>> = {
  spec_version: 'the format is not a version of poaw/0',
  schema: 'a member is missing, malformed or not allowed',
  integers_only: 'a number is not written as an integer',
  key: 'the key document has no such key, or the key was not in use at the time of issue',
  signature: 'the signature does not fit the content and the key',
  claim_digest: 'the digest is not that of the claim',
  inclusion: 'the proof does not lead from this entry to the root',
  policy: 'the pipeline document is not the one that the entry names',
}

const ANCHOR_PROBLEMS: Readonly<Record<AnchorProblem, string>> = {
  unknown_scheme: 'this command does not know the scheme',
  rpc_chain_mismatch: 'the node is of another chain',
  unreadable: 'the node could not be read',
  attestation_not_found: 'no final block has such an attestation',
  attestation_revoked: 'the attestation is revoked',
  attester_not_published: 'the key document does not name the account that attested',
  schema_not_published: 'the key document does not name the schema of the attestation',
  data_undecodable: 'the data of the attestation cannot be decoded',
  log_or_size_mismatch: 'the attestation is of another log or size',
  anchor_does_not_cover_leaf: 'the anchored log was too small to hold this entry',
  consistency_proof_required: 'the issuer has to connect the anchor with the proof, and gave no consistency proof',
  consistency_proof_invalid: 'the consistency proof of the issuer does not hold',
  root_mismatch: 'the attestation has another root',
}

/** What is not known, as distinct from what is known not to hold. */
const UNKNOWN: ReadonlySet<string> = new Set(['unreadable', 'rpc_chain_mismatch', 'consistency_proof_required'])

function isUnknown(anchor: AnchorProblem | 'anchored'): boolean {
  return UNKNOWN.has(anchor)
}

function firstFailure({ checks }: Report): string {
  const [name] = Object.entries(checks).find(([, outcome]) => outcome === false)!
  return FAILURES[name as keyof typeof FAILURES]
}

function checkLines(options: EntryReportOptions): string[] {
  const { anchor, ...others } = options.report.checks
  const outcomes = Object.entries(others).map(([name, outcome]): Fact => [name, describeCheck(name, outcome, options)])
  const pipeline: Fact[] =
    options.hasPipeline && others.policy === undefined ? [['policy', 'none is named: --pipeline was not used']] : []
  return factLines([...outcomes, ...pipeline, ['anchor', describeAnchor(anchor, options)]])
}

function describeCheck(name: string, outcome: boolean | string, { paint }: EntryReportOptions): string {
  if (outcome === true) return 'holds'
  if (outcome === false) return paint('bad', `DOES NOT HOLD: ${FAILURES[name as keyof typeof FAILURES]}`)
  if (name === 'policy') return 'not checked: pass --pipeline, the pipeline document'
  return 'absent: the document has no proof'
}

function describeAnchor(anchor: Report['checks']['anchor'], { report, paint }: EntryReportOptions): string {
  if (anchor === 'absent') return 'absent: the document has no anchor'
  if (anchor === 'anchored') return `holds: it existed by ${report.proven_by}`
  if (anchor === 'not_checked_offline') {
    return report.valid ? 'not checked: pass --rpc, a node of its chain' : 'not checked: the rest does not hold'
  }
  const problem = `${ANCHOR_PROBLEMS[anchor]} (${anchor})`
  return isUnknown(anchor)
    ? paint('doubtful', `could not be checked: ${problem}`)
    : paint('bad', `DOES NOT HOLD: ${problem}`)
}
