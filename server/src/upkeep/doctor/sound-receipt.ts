/**
 * The fast check of a receipt: accepts a receipt whose entry is, byte for byte, what follows from its claim and last check. Any other
 * receipt is examined in full, so this check need not know every valid form, and it never reports a problem.
 */
import {
  type CheckRecord,
  canonicalize,
  formatInstant,
  type Instant,
  type JsonObject,
  type PluginName,
  signedEvidence,
  toWirePlugin,
  toWireSource,
} from '@claimcheck/core'
import { instantOf } from '../../base/ids.ts'
import { leafHashHex, sha256Text } from '../../base/sha256.ts'
import { SEPARATORS } from '../../storage/lines.ts'
import { readRecord } from './check-record.ts'
import { isConsistentAccess, isFlag } from './claim-examination.ts'
import { retell } from './evidence.ts'
import type { HeadBounds } from './receipt-examination.ts'
import { type ClaimLine, type ReceiptLine, readChecks } from './stored.ts'

export function isSound(line: ReceiptLine, bounds: HeadBounds): boolean {
  const issuedAt = Number(line.issued_at)
  const inTime = issuedAt >= bounds.notBefore && issuedAt <= bounds.notAfter
  try {
    return inTime && isDecided(line) && entryFollows(line, bounds) && leafHashHex(line.entry) === line.leaf_hash
  } catch {
    // A text is not JSON, or a number is not a time: the full examination tells which.
    return false
  }
}

/** True when this receipt decides the claim, and all of its checks exist. */
function isDecided({ claim, receipt_id }: ReceiptLine): boolean {
  return (
    claim.state === 'decided' &&
    claim.receipt_id === receipt_id &&
    claim.due_at === '' &&
    claim.next_check_at === '' &&
    claim.moment_at === '' &&
    claim.belongs === '1' &&
    isConsistentAccess(claim) &&
    isFlag(claim.agent_bound) &&
    Number(claim.submitted_at) === (instantOf(claim.claim_id) ?? Number(claim.submitted_at)) &&
    hasChecks(claim)
  )
}

function hasChecks({ attempts, checks, last_check }: ClaimLine): boolean {
  if (attempts === '1') return checks === ONLY_CHECK
  const each = readChecks(checks, last_check)
  return (
    each.length === Number(attempts) &&
    each.at(-1)?.record === last_check &&
    each.every(({ attempt, record }, index) => attempt === String(index + 1) && readRecord(record) !== undefined)
  )
}

/** The text of a single check whose record is last_check. */
const ONLY_CHECK = `1${SEPARATORS.attempt}`

/** Compares the entry's text, except the issuer's name, the time of appearance and the signature, which only the leaf's hash covers. */
function entryFollows({ claim, entry, receipt_id, issued_at, evidence }: ReceiptLine, { keyId }: HeadBounds): boolean {
  const rest = `"claimed_at":"${instantText(claim.claimed_at)}","client_claim_id":${claim.client_claim_id},"params":${canonicalize(JSON.parse(claim.params))},"target":${claim.target}}`
  const digest = sha256Text(`{"action":"${claim.action}",${rest}`)
  if (digest !== claim.claim_digest) return false
  const bound = claim.agent_bound === '1' ? '"bound":true,' : ''
  const beginning = `{"body":{"agent":{${bound}"id":${claim.agent_id}},"claim":{"action":"${claim.action}","claim_digest":"${digest}",${rest},"issued_at":"${instantText(issued_at)}","issuer":{"key_id":"${keyId}"`
  // startsWith takes ten times as long for a string that was just concatenated.
  if (entry.slice(0, beginning.length) !== beginning) return false
  const told = evidence === '' ? tellPlain(claim) : tellEvidence(claim, evidence)
  if (!told) return false
  const reason = claim.reason_code === '' ? '' : `"reason_code":"${claim.reason_code}",`
  const end = `"attempts":${claim.attempts},"deadline_at":"${instantText(claim.deadline_at)}",${told.text},"verifier":${verifierText(claim, told.plugin)}},"receipt_id":"${receipt_id}","spec_version":"poaw/0.1","trust_level":2,"verdict":{${reason}"value":"${claim.verdict}"}},"signature":{"alg":"Ed25519","key_id":"${keyId}","value":"`
  return entry.slice(-SIGNATURE_LENGTH - end.length, -SIGNATURE_LENGTH) === end
}

function verifierText({ profile_action: id, profile_version: version }: ClaimLine, plugin: Told['plugin']): string {
  return plugin
    ? canonicalize({ id, version, ...toWirePlugin(plugin) } as JsonObject)
    : `{"id":"${id}","version":"${version}"}`
}

interface Told {
  /** The members from `evidence_digest` to `source`. */
  readonly text: string
  readonly plugin: PluginName | undefined
}

/** In the form from before receipts named their evidence: of the last check alone. */
function tellPlain({ last_check }: ClaimLine): Told {
  const basis: CheckRecord = JSON.parse(last_check)
  const { facts, observedAt } = signedEvidence({ basis }, [])
  return { text: `"facts":${canonicalize(facts)},"observed_at":"${instantText(observedAt)}"`, plugin: basis.plugin }
}

/** Undefined when the evidence is not what the claim's checks say, or does not give its verdict. */
function tellEvidence(claim: ClaimLine, evidence: string): Told | undefined {
  const checks = readChecks(claim.checks, claim.last_check).map(({ record }): CheckRecord => JSON.parse(record))
  const retold = retell(evidence, claim, checks)
  const { value, reasonCode = '' } = retold?.decision.verdict ?? {}
  if (retold?.text !== evidence || value !== claim.verdict || reasonCode !== claim.reason_code) return undefined
  const { observedAt, facts, source } = signedEvidence(retold.decision, checks)
  const digest = sha256Text(evidence)
  const where = source ? `,"source":${canonicalize(toWireSource(source))}` : ''
  const text = `"evidence_digest":"${digest}","facts":${canonicalize(facts)},"observed_at":"${instantText(observedAt)}"${where}`
  return { text, plugin: retold.decision.basis.plugin }
}

const SIGNATURE_LENGTH = `${'A'.repeat(86)}"}}`.length

function instantText(instant: Instant | string): string {
  return formatInstant(Number(instant))
}
