/** The proofs of a receipt as steps for a reader: which hold, are pending, were not checked, or fail. */
import { type BundleReport, isUnvouched, type Proof } from '@claimcheck/core/receipts'
import {
  ANCHOR_PROBLEMS,
  contradictsProof,
  EVIDENCE_LIMIT,
  evidenceFails,
  evidenceProblem,
  firstFailure,
  GIVEN_RULES_WORDS,
  HEAD_PROBLEMS,
  headHolds,
  isUnknownAnchor,
  RULES_WORDS,
} from '@claimcheck/core/words/checks'
import { utcOf } from '@claimcheck/core/words/when'
import { sentence } from '../words.tsx'

/** The state of a step. `none`: there is nothing to check, and nothing will follow. */
export type StepState = 'holds' | 'pending' | 'not_checked' | 'none' | 'fails'

export interface Step {
  readonly name: 'signature' | 'inclusion' | 'tree_head' | 'evidence' | 'anchor'
  readonly title: string
  readonly state: StepState
  /** A sentence that says how the step went. */
  readonly text: string
}

export interface Origin {
  /** True if the documents came as files, of several ages and from anywhere. Else a service sent them. */
  readonly isGiven?: boolean
}

interface Checked {
  readonly report: BundleReport
  readonly proof: Proof | undefined
  readonly isGiven: boolean
}

type Found = readonly [state: StepState, text: string]

const STEPS: readonly (readonly [Step['name'], string, (checked: Checked) => Found])[] = [
  ['signature', 'Signature', signatureStep],
  ['inclusion', 'In the log', inclusionStep],
  ['tree_head', 'Signed state of the log', headStep],
  ['evidence', 'Evidence', evidenceStep],
  ['anchor', 'Anchor on a public chain', anchorStep],
]

export function stepsOf(
  report: BundleReport,
  proof: Proof | undefined,
  { isGiven = false }: Origin = {},
): readonly Step[] {
  return STEPS.map(([name, title, find]) => {
    const [state, text] = find({ report, proof, isGiven })
    // Documents that nothing vouches for can at most fit each other.
    return isUnvouched(report) && state === 'holds'
      ? { name, title, state: 'not_checked', text: FITS }
      : { name, title, state, text }
  })
}

export function anyFails(steps: readonly Step[]): boolean {
  return steps.some(({ state }) => state === 'fails')
}

/** Lists the steps as they stand before a check. */
export function uncheckedSteps(): readonly Step[] {
  return STEPS.map(([name, title]) => ({ name, title, state: 'not_checked', text: 'Not checked yet.' }))
}

function signatureStep({ report }: Checked): Found {
  const { inclusion, anchor, policy, ...signed } = report.checks
  if (Object.values(signed).includes(false)) return ['fails', sentence(firstFailure(report))]
  if (report.key_pinned === false) return ['fails', 'A published key signed it, but not the key that you pinned.']
  const { vouched_by: voucher } = report
  return voucher === 'nothing' ? ['not_checked', UNVOUCHED] : ['holds', SIGNED[voucher]]
}

const FITS = 'It fits the rest of these documents. The maker of the key can have made all of them.'
const UNVOUCHED = 'A key in these documents signed exactly this. Nothing here shows who holds that key.'
const SIGNED: Readonly<Record<Exclude<BundleReport['vouched_by'], 'nothing'>, string>> = {
  pin: 'The key that you pinned signed exactly this.',
  keys: 'A key of the key document that you trust, in use at that time, signed exactly this.',
  issuer: 'A key that the issuer publishes, and that was in use at that time, signed exactly this.',
}

function allHold(report: BundleReport): boolean {
  return report.valid || isUnvouched(report)
}

function inclusionStep({ report, proof }: Checked): Found {
  const { inclusion } = report.checks
  if (inclusion === 'absent' || !proof)
    return ['not_checked', 'This copy has no proof: fetch it again from its issuer.']
  if (!inclusion) return ['fails', 'The proof does not lead from this receipt to the root.']
  return ['holds', `It is entry ${proof.leaf_index} of the tree with ${proof.tree_size} entries.`]
}

function headStep({ report, isGiven }: Checked): Found {
  const { tree_head: found } = report
  if (!allHold(report)) return NOTHING_TO_ADD
  if (!found) return ['not_checked', 'There is no signed tree head here to compare the proof with.']
  if (found.tree_head === 'holds') return ['holds', sentence(headHolds(found))]
  // Keys and heads can be too old among documents of several ages; a service sends those of now.
  const isOpen = found.tree_head === 'consistency_proof_required' || (isGiven && !contradictsProof(found))
  return [isOpen ? 'not_checked' : 'fails', sentence(HEAD_PROBLEMS[found.tree_head])]
}

function evidenceStep({ report, isGiven }: Checked): Found {
  const { evidence } = report
  if (!allHold(report)) return NOTHING_TO_ADD
  if (!evidence) return ['not_checked', 'The receipt signs no evidence, so its verdict cannot be recomputed.']
  const problem = evidenceProblem(evidence)
  if (problem !== undefined) return ['fails', sentence(problem)]
  if (evidence.evidence !== 'follows') {
    return ['not_checked', 'The evidence is missing, or of a version that this checker does not know.']
  }
  const text = `The verdict follows from the checks, ${(isGiven ? GIVEN_RULES_WORDS : RULES_WORDS)[evidence.rules]}. ${EVIDENCE_LIMIT}`
  return [evidenceFails(evidence) ? 'fails' : 'holds', text]
}

function anchorStep({ report, proof }: Checked): Found {
  const { checks, proven_by, issuer_anchors } = report
  const { anchor } = checks
  if (!allHold(report)) return NOTHING_TO_ADD
  if (anchor === 'absent' && !issuer_anchors) return ['none', NO_ANCHORS]
  if (anchor === 'absent') return ['pending', 'The root of the log is not on a chain yet, as far as this copy says.']
  if (anchor === 'anchored')
    return ['holds', `The chain shows that this existed by ${proven_by === undefined ? 'then' : utcOf(proven_by)}.`]
  if (anchor === 'not_checked_offline') {
    const chain = proof?.anchor?.chain ?? 'the chain'
    return ['not_checked', `This needs a node of ${chain} that you choose: claimcheck verify --rpc URL asks it.`]
  }
  return [isUnknownAnchor(anchor) ? 'not_checked' : 'fails', sentence(ANCHOR_PROBLEMS[anchor])]
}

const NO_ANCHORS =
  'This copy carries no anchor, and none will follow: its key document names no account that anchors, so this service does not anchor.'

const NOTHING_TO_ADD: Found = ['not_checked', 'Not checked: what comes before does not hold.']
