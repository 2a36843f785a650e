/** Reports the check of a receipt or change entry in lines for a person: the answer, the content, then each check. */

import { type BundleReport, isReceipt, isUnvouched, type VouchedBy } from '@claimcheck/core/receipts'
import type { JsonObject, JsonValue } from '@claimcheck/core/rules'
import {
  ANCHOR_PROBLEMS,
  CHECK_FAILURES,
  contradictsProof,
  evidenceFails,
  firstFailure,
  HEAD_PROBLEMS,
  headHolds,
  isUnknownAnchor,
  UNVOUCHED_WORDS,
} from '@claimcheck/core/words/checks'
import { visible } from '@claimcheck/core/words/plain-text'
import { evidenceLine } from './evidence-report.ts'
import { type Fact, factLines } from './facts.ts'
import type { Gathered } from './gather.ts'
import { type IssuerWords, receiptSummary, type Summary } from './receipt-summary.ts'
import type { Paint } from './style.ts'

interface EntryReportOptions {
  readonly report: BundleReport
  /** The document as it was read; null where it is no JSON. */
  readonly document: JsonValue
  /** The reason for which the document cannot be checked. */
  readonly problem: string | undefined
  readonly hasPipeline: boolean
  readonly gathered: Gathered
  /** The issuer's words for the action; undefined if no issuer publishes any. */
  readonly words: IssuerWords | undefined
  /** Differences from what the options ask, although the receipt is valid. */
  readonly shortcomings: readonly string[]
  readonly paint: Paint
}

export function entryReport(options: EntryReportOptions): string[] {
  const { report, document, problem, gathered, words, shortcomings, paint } = options
  if (problem !== undefined) return [paint('bad', `NOT valid: ${problem}.`)]
  const isOpen = isUnvouched(report)
  if (!report.valid && !isOpen) {
    return [paint('bad', `NOT valid: ${firstFailure(report)}.`), '', ...checkLines(options)]
  }
  const isDoubtful = shortcomings.length > 0 || (report.evidence && evidenceFails(report.evidence))
  const tone = isDoubtful ? 'doubtful' : 'good'
  const summary = isReceipt(document)
    ? receiptSummary(document, words, isOpen)
    : changeSummary(document as JsonObject, isOpen)
  return [
    ...shortcomings.map((text) =>
      paint('bad', `NOT as asked: ${isOpen ? 'every check holds' : 'the receipt is valid'}, but ${text}.`),
    ),
    ...(isOpen && report.key_pinned === undefined ? UNVOUCHED.map((line) => paint('open', line)) : []),
    paint(isOpen ? 'open' : tone, summary.heading),
    '',
    ...factLines(shown(summary.facts)),
    '',
    ...Object.entries(summary.lists).flatMap(([heading, facts]) =>
      facts.length > 0 ? [`${heading}:`, ...factLines(shown(facts)), ''] : [],
    ),
    ...summary.sentences.map((sentence) => visible(sentence)),
    ...(summary.sentences.length > 0 ? [''] : []),
    ...(isReceipt(document) ? [evidenceLine(report.evidence, gathered, paint)] : []),
    ...(isOpen ? [] : [trustLevel(options), keyLine(options)]),
    '',
    ...checkLines(options),
  ]
}

const UNVOUCHED = [
  `Signed by a key that nothing vouches for. ${UNVOUCHED_WORDS}`,
  "Name the issuer's key document with --keys or its key with --pin, or check the receipt at its issuer's address.",
  '',
]

function changeSummary({ body }: JsonObject, isOpen: boolean): Summary {
  const { change_id, connector, event, target, seen_at, issued_at } = body as Readonly<Record<string, string>>
  return {
    heading: isOpen
      ? 'It says that its issuer saw a change at a destination that it watches.'
      : 'Valid change entry: the issuer saw a change at a destination that it watches.',
    facts: [
      ['event', event],
      ['target', target],
      ['connector', connector],
      ['seen at', seen_at],
      ['issued at', issued_at],
      ['change', change_id],
    ],
    lists: {},
    sentences: [],
  }
}

/** Makes texts of the issuer and the agent harmless for a terminal. */
function shown(facts: readonly Fact[]): readonly Fact[] {
  return facts.map(([name, value]) => [visible(name), value === undefined ? undefined : visible(value)])
}

/** Says what shows that the key is the issuer's. */
function keyLine({ report, gathered: { issuer } }: EntryReportOptions): string {
  return `Key: ${VOUCHERS[report.vouched_by](issuer === undefined ? 'the issuer' : new URL(issuer).host)}.`
}

const VOUCHERS: Readonly<Record<VouchedBy, (host: string) => string>> = {
  pin: () => 'the one that --pin names',
  keys: () => 'one of the document that --keys names',
  issuer: (host) => `one that ${host} publishes, which vouches for it`,
  nothing: () => 'nothing vouches for it',
}

/** Says why the achieved level is lower than the stated one, and what would raise it. */
function trustLevel({ report, document, paint }: EntryReportOptions): string {
  const { achieved_trust_level: achieved, proven_by } = report
  const { body, proof } = document as { body: JsonObject; proof?: { anchor?: { chain: string } } }
  const stated = Number(body.trust_level)
  if (achieved === 2) {
    return `Trust level 2: signed, in the log, and anchored. It existed by ${proven_by}.${beyond(stated)}`
  }
  if (stated === 1) return 'Trust level 1, as it states: signed.'
  const level = `Trust level 1 of ${Math.min(stated, 2)}: signed, but`
  return paint('doubtful', `${level} ${lackOf(report, proof?.anchor?.chain)}${beyond(stated)}`)
}

/** Adds that the receipt states a level above 2: other issuers state levels that rest on an attestation. */
function beyond(stated: number): string {
  return stated > 2
    ? ` It states level ${stated}: this command checks no attestation, and none raises the level here.`
    : ''
}

function lackOf({ checks: { inclusion, anchor }, issuer_anchors }: BundleReport, chain: string | undefined): string {
  if (inclusion === 'absent') return 'without a proof that it is in the log. Fetch it again from its issuer.'
  if (anchor === 'absent' && !issuer_anchors) return `not anchored: ${NO_ANCHORS}.`
  if (anchor === 'absent') return 'not anchored yet. Fetch it again from its issuer later.'
  if (anchor === 'not_checked_offline') {
    return `its anchor was not checked. Pass --rpc URL, a node of the chain ${visible(chain ?? '')}.`
  }
  return `its anchor ${isUnknownAnchor(anchor) ? 'could not be checked' : 'does not hold'}: see below.`
}

const NO_ANCHORS = 'its issuer names no account that anchors, so that none will follow'

function checkLines(options: EntryReportOptions): string[] {
  const { anchor, ...others } = options.report.checks
  const outcomes = Object.entries(others).map(([name, outcome]): Fact => [name, describeCheck(name, outcome, options)])
  const pipeline: Fact[] =
    options.hasPipeline && others.policy === undefined ? [['policy', 'none is named: --pipeline was not used']] : []
  return factLines([...outcomes, ...headLine(options), ...pipeline, ['anchor', describeAnchor(anchor, options)]])
}

function describeCheck(name: string, outcome: boolean | string, { paint }: EntryReportOptions): string {
  if (outcome === true) return 'holds'
  if (outcome === false) return paint('bad', `DOES NOT HOLD: ${CHECK_FAILURES[name as keyof typeof CHECK_FAILURES]}`)
  if (name === 'policy') return 'not checked: pass --pipeline, the pipeline document'
  return 'absent: the document has no proof'
}

function headLine({ report, gathered, paint }: EntryReportOptions): Fact[] {
  const { checks, tree_head: found } = report
  if (!(report.valid || isUnvouched(report)) || checks.inclusion === 'absent') return []
  if (!found) return [['tree head', `not checked: ${gathered.noHead ?? 'pass --head, a signed tree head of the log'}`]]
  if (found.tree_head === 'holds')
    return [['tree head', report.valid ? `holds: ${headHolds(found)}` : 'fits the keys in the bundle']]
  const problem = `${HEAD_PROBLEMS[found.tree_head]} (${found.tree_head})`
  const isBad = contradictsProof(found)
  return [
    ['tree head', isBad ? paint('bad', `DOES NOT HOLD: ${problem}`) : paint('doubtful', `not checked: ${problem}`)],
  ]
}

function describeAnchor(anchor: BundleReport['checks']['anchor'], { report, paint }: EntryReportOptions): string {
  if (anchor === 'absent') return 'absent: the document has no anchor'
  if (anchor === 'anchored') return `holds: it existed by ${report.proven_by}`
  if (anchor === 'not_checked_offline') {
    return report.valid || isUnvouched(report)
      ? 'not checked: pass --rpc, a node of its chain'
      : 'not checked: the rest does not hold'
  }
  const problem = `${ANCHOR_PROBLEMS[anchor]} (${anchor})`
  return isUnknownAnchor(anchor)
    ? paint('doubtful', `could not be checked: ${problem}`)
    : paint('bad', `DOES NOT HOLD: ${problem}`)
}
