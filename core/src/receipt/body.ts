/** The wire format of receipts, and the making of a receipt from a decided claim. */
import type { DeepReadonly } from '../api/primitives.ts'
import type { Receipt as DescribedReceipt } from '../api/receipt.ts'
import type { Instant, Interval, PluginName, Source } from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import type { Signature } from '../signing/message.ts'
import { formatInstant } from '../time.ts'
import type { ReasonCode, Verdict, VerdictValue } from '../verdict.ts'
import { type SubmittedClaim, toWireClaim } from './digest.ts'
import { canonicalize } from './jcs.ts'

export type Receipt = {
  readonly body: ReceiptBody
  readonly signature: Signature
  /** The proof, which is not signed: it proves itself, and can be replaced by one at a larger tree size. */
  readonly proof?: Proof
}

type DescribedBody = DeepReadonly<DescribedReceipt>['body']

/**
 * The body of a receipt. `agent.bound` is an addition of Claimcheck's: the workspace lets only certain keys speak for the agent, and the claim came
 * through one of them. Other issuers may leave out the client's id of the claim, which Claimcheck always writes.
 */
export type ReceiptBody = Omit<DescribedBody, 'claim' | 'observation' | 'verdict'> & {
  readonly claim: Omit<DescribedBody['claim'], 'client_claim_id'> & { readonly client_claim_id?: string }
  readonly observation: ReceiptObservation
  readonly verdict: { readonly value: VerdictValue; readonly reason_code?: ReasonCode }
}

export type ReceiptObservation = Omit<DescribedBody['observation'], 'source'> & {
  /** The place that the host read. Absent if nothing was read. */
  readonly source?: WireSource
}

/**
 * Names that distinguish an agent whose keys the workspace bound to it from those of other workspaces. Other issuers may mean something else by these
 * members.
 */
export type AgentNames = Pick<ReceiptBody['agent'], 'pseudonym' | 'domain'>

/**
 * The action, the version of its rules, and the code of the plugin that made the check on which the verdict rests. The plugin's package and version are
 * additions of Claimcheck's: other issuers may mean something else by them.
 */
export type WireVerifier = ReceiptObservation['verifier']

export type WireSource =
  | { readonly provider: string; readonly listed: boolean; readonly base_url: string }
  | { readonly provider: string; readonly listed: false; readonly source_id: string }

/** A proof that a receipt is in the log. Hashes are base64url. */
export type Proof = Required<DeepReadonly<DescribedReceipt>>['proof']
export type AnchoredProof = Required<Proof>

/** The attestation of the log's root on a public chain. */
export type ProofAnchor = AnchoredProof['anchor']

/** A claim with its verdict: everything from which a receipt is made. */
export interface DecidedClaim {
  readonly receiptId: string
  readonly issuedAt: Instant
  readonly issuer: { readonly keyId: string; readonly name?: string }
  readonly agentId: string
  /** Tells whether the claim came through a key that is bound to the agent. */
  readonly agentBound?: boolean
  /** The names of a bound agent. */
  readonly agentNames?: AgentNames | undefined
  /** The claim with the digest that was made when it was submitted. */
  readonly claim: SubmittedClaim & { readonly claimDigest: string }
  readonly observation: {
    readonly verifier: { readonly id: string; readonly version: string; readonly plugin?: PluginName }
    /** The time of the check on which the verdict is based. */
    readonly observedAt: Instant
    readonly deadlineAt: Instant
    readonly attempts: number
    readonly facts: JsonObject
    readonly appeared?: Interval
    readonly largestGapMs?: number
    readonly source?: Source
    readonly evidenceDigest?: string
  }
  readonly verdict: Verdict
}

// The level that a receipt can reach: it is signed, and in a log that is anchored. A checker reports the level that it finds.
const TRUST_LEVEL = 2

export function receiptBody(decided: DecidedClaim): ReceiptBody {
  const { receiptId, issuedAt, issuer, claim, observation, verdict } = decided
  const { action, target, params, claimed_at, client_claim_id } = toWireClaim(claim)
  const { value, reasonCode } = verdict
  // The members here and below are in canonical order, so that nothing has to be sorted.
  return {
    agent: toWireAgent(decided),
    claim: { action, claim_digest: claim.claimDigest, claimed_at, client_claim_id, params, target },
    issued_at: formatInstant(issuedAt),
    issuer: issuer.name === undefined ? { key_id: issuer.keyId } : { key_id: issuer.keyId, name: issuer.name },
    observation: toWireObservation(observation),
    receipt_id: receiptId,
    spec_version: 'poaw/0.1',
    trust_level: TRUST_LEVEL,
    verdict: reasonCode === undefined ? { value } : { reason_code: reasonCode, value },
  }
}

function toWireAgent({ agentId, agentBound, agentNames = {} }: DecidedClaim): ReceiptBody['agent'] {
  if (!agentBound) return { id: agentId }
  const { domain, pseudonym } = agentNames
  return {
    bound: true,
    ...(domain !== undefined && { domain }),
    id: agentId,
    ...(pseudonym !== undefined && { pseudonym }),
  }
}

const PSEUDONYM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
/** A domain in letters of ASCII, so that no other name looks like it. */
const DOMAIN = /^(?=.{4,240}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/

/** Tells whether a text is a domain's name in the form that receipts have. */
export function isDomain(text: string): boolean {
  return DOMAIN.test(text)
}

/** The names of a bound agent that have the form in which Claimcheck writes them. */
export function agentNames({ bound, pseudonym, domain }: ReceiptBody['agent']): AgentNames {
  const hasForm = (text: unknown, form: RegExp): text is string =>
    bound === true && typeof text === 'string' && form.test(text)
  return { ...(hasForm(pseudonym, PSEUDONYM) && { pseudonym }), ...(hasForm(domain, DOMAIN) && { domain }) }
}

/** The text that a leaf of the log hashes: body and signature in canonical JSON, without the proof. */
export function entryText({ body, signature }: Pick<Receipt, 'body' | 'signature'>): string {
  const [before, after] = aroundBody(signature)
  return `${before}${canonicalize(body)}${after}`
}

/** The text before and after the body in an entry. */
export function aroundBody(signature: Signature): readonly [before: string, after: string] {
  return ['{"body":', `,"signature":${canonicalize(signature)}}`]
}

function toWireObservation(observed: DecidedClaim['observation']): ReceiptObservation {
  const { verifier, observedAt, deadlineAt, attempts, facts, appeared, largestGapMs, source, evidenceDigest } = observed
  return {
    ...(appeared && { appeared: toWireInterval(appeared) }),
    attempts,
    deadline_at: formatInstant(deadlineAt),
    ...(evidenceDigest !== undefined && { evidence_digest: evidenceDigest }),
    facts,
    ...(largestGapMs !== undefined && { largest_gap_ms: largestGapMs }),
    observed_at: formatInstant(observedAt),
    ...(source && { source: toWireSource(source) }),
    verifier: toWireVerifier(verifier),
  }
}

function toWireVerifier({ id, version, plugin }: DecidedClaim['observation']['verifier']): WireVerifier {
  if (!plugin) return { id, version }
  const { package: name, version: package_version, codeHash: code_hash } = plugin
  return {
    ...(code_hash !== undefined && { code_hash }),
    id,
    package: name,
    ...(package_version !== undefined && { package_version }),
    version,
  }
}

export function toWireSource(source: Source): WireSource {
  const { provider } = source
  return 'baseUrl' in source
    ? { base_url: source.baseUrl, listed: source.listed, provider }
    : { listed: false, provider, source_id: source.sourceId }
}

export function toWireInterval({ notBefore, notAfter, source }: Interval) {
  return {
    not_after: formatInstant(notAfter),
    source,
    ...(notBefore !== undefined && { not_before: formatInstant(notBefore) }),
  }
}
