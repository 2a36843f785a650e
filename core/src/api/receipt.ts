/** The wire format of receipts, as a description. The checker's rules are stricter. */
import { type Static, Type } from 'typebox'
import { VERDICTS } from '../verdict.ts'
import { count, Hash, plainObject, Timestamp } from './primitives.ts'

export const Signature = Type.Object(
  {
    alg: Type.Literal('Ed25519'),
    key_id: Type.String({ pattern: '^ed25519:[A-Za-z0-9_-]{43}$' }),
    value: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' }),
  },
  { title: 'Signature', additionalProperties: false },
)

export const ReceiptProof = Type.Object(
  {
    log_id: Hash,
    leaf_index: count(),
    tree_size: count(),
    root_hash: Hash,
    inclusion: Type.Array(Hash),
    anchor: Type.Optional(
      Type.Object({
        chain: Type.String({ description: 'CAIP-2.' }),
        scheme: Type.Literal('eas'),
        uid: Type.String(),
        tx_hash: Type.String(),
        tree_size: count(),
      }),
    ),
  },
  { title: 'ReceiptProof', description: 'Proves that the receipt is in the log, and says where the log is anchored.' },
)

export const Receipt = Type.Object(
  {
    body: Type.Object({
      spec_version: Type.Enum(['poaw/0.1', 'poaw/0.2']),
      receipt_id: Type.String(),
      issued_at: Timestamp,
      issuer: Type.Object({ key_id: Type.String(), name: Type.Optional(Type.String()) }),
      agent: Type.Object({ id: Type.String() }),
      claim: Type.Object({
        action: Type.String(),
        target: Type.String(),
        params: plainObject(),
        claimed_at: Timestamp,
        client_claim_id: Type.String(),
        claim_digest: Hash,
      }),
      observation: Type.Object({
        verifier: Type.Object({ id: Type.String(), version: Type.String() }),
        observed_at: Timestamp,
        deadline_at: Timestamp,
        attempts: Type.Integer({ minimum: 1 }),
        facts: plainObject(),
        appeared: Type.Optional(
          Type.Object({
            not_before: Type.Optional(Timestamp),
            not_after: Timestamp,
            source: Type.Enum(['destination', 'observation']),
          }),
        ),
      }),
      verdict: Type.Object({ value: Type.Enum(VERDICTS), reason_code: Type.Optional(Type.String()) }),
      trust_level: Type.Integer({ minimum: 1, maximum: 4 }),
    }),
    signature: Signature,
    proof: Type.Optional(ReceiptProof),
  },
  { title: 'Receipt', additionalProperties: false },
)
export type Receipt = Static<typeof Receipt>
