/** The structure of receipts, change entries, proofs and signed tree heads, by the published schemas and the rules that the format's text adds. */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { ConsistencyDocument, InclusionDocument, SignedTreeHead } from '../log/tree-head.ts'
import { ACTION_PATTERN } from '../profile.ts'
import { parseInstant } from '../time.ts'
import { REASONS, type VerdictValue } from '../verdict.ts'
import type { AnchoredProof, Proof, Receipt } from './body.ts'
import {
  all,
  array,
  closedObject,
  either,
  implies,
  integer,
  matching,
  object,
  oneOf,
  type Shape,
  text,
  without,
} from './shape.ts'

const anyObject: Shape = isJsonObject
const anyText = text(0, Number.POSITIVE_INFINITY)
const action = matching(new RegExp(ACTION_PATTERN))
const version = matching(/^\d+$/)
const base64url = matching(/^[A-Za-z0-9_-]+$/)
// The last of 43 letters has two unused bits, the last of 86 has four. They must be zero: otherwise a value would have several texts.
const hash = matching(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/)
const signatureValue = matching(/^[A-Za-z0-9_-]{85}[AQgw]$/)
const keyId = matching(/^ed25519:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/)
const fingerprint = matching(/^sha256:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/)
// Other issuers also write what enclaves measure, which is SHA-384, and hexadecimal. Nothing here is compared with it.
const codeHash = either(fingerprint, matching(/^sha384:(?:[A-Za-z0-9_-]{64}|[0-9a-f]{96})$/))
const documentDigest = matching(/^(?:sha256:)?(?:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]|[0-9a-f]{64})$/)
const transactionHash = matching(/^0x[0-9a-fA-F]{64}$/)
const timestamp: Shape = (value) => typeof value === 'string' && parseInstant(value) !== undefined

const issuer = object({ key_id: keyId }, { name: text(0, 128) })
const trustLevel = integer(1, 4)
// An attestation holds its document or, where that is outside of the body, names its digest. This checker reads no attestation: one never raises a
// level.
const namesDocument = object({ document_sha256: documentDigest })
const attestation = all(
  object({ type: anyText }, { document: base64url, document_sha256: documentDigest }),
  either(object({ document: base64url }), namesDocument),
)
const claimsAttestation = object({ trust_level: integer(3) })

const policy = closedObject({
  pipeline_id: matching(/^[a-z0-9][a-z0-9_-]{2,63}$/),
  pipeline_version: integer(1),
  digest: hash,
})

const signature = closedObject({ alg: oneOf('Ed25519'), key_id: keyId, value: signatureValue })

const inclusion = object({
  log_id: hash,
  leaf_index: integer(0),
  tree_size: integer(1),
  root_hash: hash,
  inclusion: array(hash),
})

const anchor = object({
  chain: anyText,
  scheme: oneOf('eas'),
  uid: transactionHash,
  tx_hash: transactionHash,
  tree_size: integer(1),
})

const proof = all(inclusion, object({}, { anchor }))
const anchoredProof = all(inclusion, object({ anchor }))

const agent = object(
  { id: text(1, 256) },
  {
    erc8004: object({
      chain: matching(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/),
      registry: anyText,
      agent_id: anyText,
    }),
  },
)

const claim = object(
  {
    action,
    target: text(1, 512),
    params: anyObject,
    claimed_at: timestamp,
    claim_digest: hash,
  },
  { client_claim_id: text(0, 256) },
)

const observation = object({
  verifier: object({ id: action, version }, { code_hash: codeHash }),
  observed_at: timestamp,
  deadline_at: timestamp,
  attempts: integer(1),
  facts: anyObject,
})

/** A reason must be one of the verdict's. `unverifiable` must have one. */
const verdict: Shape = (value) => {
  if (!isJsonObject(value) || typeof value.value !== 'string' || !Object.hasOwn(REASONS, value.value)) return false
  const reasons: readonly JsonValue[] = REASONS[value.value as VerdictValue]
  return Object.hasOwn(value, 'reason_code') ? reasons.includes(value.reason_code!) : value.value !== 'unverifiable'
}

const receiptBody = all(
  object(
    {
      spec_version: oneOf('poaw/0.1', 'poaw/0.2'),
      receipt_id: matching(/^rcpt_[0-9A-Za-z]{1,59}$/),
      issued_at: timestamp,
      issuer,
      agent,
      claim,
      observation,
      verdict,
      trust_level: trustLevel,
    },
    { operator: text(0, 256), supersedes: anyText, attestation, policy },
  ),
  without('entry_kind'),
  implies(object({ policy: anyObject }), object({ spec_version: oneOf('poaw/0.2') })),
  implies(
    claimsAttestation,
    object({ attestation, observation: object({ verifier: object({ code_hash: codeHash }) }) }),
  ),
)

const changeBody = all(
  object(
    {
      spec_version: oneOf('poaw/0.2'),
      entry_kind: oneOf('change'),
      change_id: text(1, 128),
      issued_at: timestamp,
      issuer,
      connector: matching(/^[a-z][a-z0-9_]{0,31}$/),
      event: action,
      target: text(1, 512),
      fingerprint: text(1, 256),
      seen_at: timestamp,
      facts: anyObject,
      watcher: object({ id: text(1, 128), version }, { code_hash: codeHash }),
      policy,
      trust_level: trustLevel,
    },
    { occurred_at: timestamp, attestation },
  ),
  without('claim', 'observation', 'verdict'),
  implies(claimsAttestation, object({ attestation, watcher: object({ code_hash: codeHash }) })),
)

const treeHeadBody = closedObject({
  log_id: hash,
  tree_size: integer(0),
  root_hash: hash,
  issued_at: timestamp,
})

const consistency = object({
  log_id: hash,
  first: integer(1),
  first_root: hash,
  second: integer(1),
  second_root: hash,
  proof: array(hash),
})

const inclusionDocument = object({
  log_id: hash,
  leaf_index: integer(0),
  tree_size: integer(1),
  leaf_hash: hash,
  root_hash: hash,
  inclusion: array(hash),
})

const receipt = entry(receiptBody)
const changeEntry = entry(changeBody)
const treeHead = closedObject({ body: treeHeadBody, signature })

/** Nothing outside of the body is signed: a document of an attestation may be there only if the body names its digest. */
function entry(body: Shape): Shape {
  return all(
    closedObject({ body, signature }, { proof, attestation_document: text(1, Number.POSITIVE_INFINITY) }),
    implies(
      (value) => isJsonObject(value) && Object.hasOwn(value, 'attestation_document'),
      object({ body: object({ attestation: namesDocument }) }),
    ),
  )
}

export function isReceipt(value: JsonValue | undefined): value is Receipt {
  return receipt(value)
}

export function isChangeEntry(value: JsonValue | undefined): boolean {
  return changeEntry(value)
}

/** Checks the members of an inclusion proof, and ignores the anchor. */
export function isInclusion(value: JsonValue | undefined): value is Omit<Proof, 'anchor'> {
  return inclusion(value)
}

export function isAnchoredProof(value: JsonValue | undefined): value is AnchoredProof {
  return anchoredProof(value)
}

export function isTreeHead(value: JsonValue | undefined): value is SignedTreeHead {
  return treeHead(value)
}

export function isInclusionDocument(value: JsonValue | undefined): value is InclusionDocument {
  return inclusionDocument(value)
}

export function isConsistencyDocument(value: JsonValue | undefined): value is ConsistencyDocument {
  return consistency(value)
}
