/** The wire format of receipts, as a description. The checker's rules are stricter. */
import { FAILURE_CODES, MARKS } from '../evidence.ts'
import type { FieldRole } from '../profile.ts'
import { type Static, Type } from '../typebox.ts'
import { FRESH_REASONS, VERDICTS } from '../verdict.ts'
import { count, Hash, plainObject, Timestamp } from './primitives.ts'

export const Signature = Type.Object(
  {
    alg: Type.Literal('Ed25519'),
    key_id: Type.String({ pattern: '^ed25519:[A-Za-z0-9_-]{43}$' }),
    value: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' }),
  },
  { title: 'Signature', additionalProperties: false },
)

const ReceiptProof = Type.Object(
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

/** The place that the service read, by its own account. */
const Source = Type.Object(
  {
    provider: Type.String({ examples: ['github'] }),
    listed: Type.Boolean({ description: 'The operator lists the address as the public place of that provider.' }),
    base_url: Type.Optional(Type.String({ examples: ['https://api.github.com'] })),
    source_id: Type.Optional(
      Type.String({
        description: 'In place of an address that the workspace withholds: the same for every read at it.',
      }),
    ),
  },
  { title: 'Source' },
)

const Verifier = Type.Object(
  {
    id: Type.String({ description: 'The action whose rules gave the verdict.', examples: ['codehost.commit.push'] }),
    version: Type.String({ description: 'The version of those rules.' }),
    package: Type.Optional(
      Type.String({
        description: 'The package of the plugin that made the check on which the verdict rests.',
        examples: ['@claimcheck/plugin-codehost'],
      }),
    ),
    package_version: Type.Optional(Type.String()),
    code_hash: Type.Optional(
      Type.String({ pattern: '^sha256:[A-Za-z0-9_-]{43}$', description: "SHA-256 of that plugin's files." }),
    ),
  },
  { title: 'Verifier' },
)

export const Receipt = Type.Object(
  {
    body: Type.Object({
      spec_version: Type.Enum(['poaw/0.1', 'poaw/0.2']),
      receipt_id: Type.String(),
      issued_at: Timestamp,
      issuer: Type.Object({ key_id: Type.String(), name: Type.Optional(Type.String()) }),
      agent: Type.Object({
        id: Type.String(),
        bound: Type.Optional(
          Type.Literal(true, {
            description:
              'The workspace lets only certain API keys speak for this agent, and the claim came through one of them.',
          }),
        ),
        domain: Type.Optional(
          Type.String({
            description:
              'Of a bound agent: the domain that its workspace showed by DNS to be its own, at most a day before.',
          }),
        ),
        pseudonym: Type.Optional(
          Type.String({
            ...Hash,
            description:
              'Of a bound agent: the same in all receipts of this issuer for this agent of this workspace, and in no others.',
          }),
        ),
      }),
      claim: Type.Object({
        action: Type.String(),
        target: Type.String(),
        params: plainObject(),
        claimed_at: Timestamp,
        client_claim_id: Type.String(),
        claim_digest: Hash,
      }),
      observation: Type.Object({
        verifier: Verifier,
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
        largest_gap_ms: Type.Optional(
          Type.Integer({
            minimum: 0,
            description:
              'Where blame rests on looks alone: the longest time in which the outcome may have been there, between the claim and the end of its tolerance, without a look that showed it. Milliseconds.',
          }),
        ),
        source: Type.Optional(Source),
        evidence_digest: Type.Optional(
          Type.String({ ...Hash, description: 'SHA-256 of the evidence, at `/v1/receipts/{receipt_id}/evidence`.' }),
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

const LogTime = Type.Object({ not_before: Type.Optional(Timestamp), not_after: Timestamp })
const lengthMs = Type.Integer({ minimum: 0, description: 'Milliseconds.' })

const EvidenceRead = Type.Object(
  {
    sent_at: Timestamp,
    answered_at: Timestamp,
    clock_offset_ms: lengthMs,
    clock_ahead_ms: Type.Optional(
      Type.Integer({
        description:
          "By how many milliseconds the destination's clock was ahead of the issuer's at least; below 0, behind it. Absent if neither is certain.",
      }),
    ),
    clock_set_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "By how many milliseconds the issuer's clock was set since the submission.",
      }),
    ),
    dated: Type.Boolean({ description: 'The destination told its time.' }),
    age_ms: Type.Integer({ minimum: 0, description: 'How old the answer may be. Milliseconds.' }),
    answers: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "How many answers of the source's origin the check had, or the read that it joined.",
      }),
    ),
    source: Type.Optional(Source),
    kind: Type.Enum(['present', 'absent']),
    differs: Type.Optional(Type.Array(Type.String())),
    mark: Type.Optional(Type.Enum(MARKS)),
    stays: Type.Optional(
      Type.Array(
        Type.Object({
          appeared: LogTime,
          removed: Type.Optional(LogTime),
          removed_whole: Type.Optional(Type.Boolean()),
        }),
      ),
    ),
    facts: Type.Optional(plainObject()),
  },
  { title: 'EvidenceRead' },
)

const EvidenceFailure = Type.Object(
  {
    sent_at: Timestamp,
    answered_at: Timestamp,
    failure: Type.Object({
      code: Type.Enum(FAILURE_CODES),
      connection_removed: Type.Optional(
        Type.Literal(true, {
          description:
            'Its owner removed the connection under which the claim was submitted. From version 2 of the evidence on.',
        }),
      ),
      status: Type.Optional(Type.Integer()),
      retry_at: Type.Optional(Timestamp),
    }),
  },
  { title: 'EvidenceFailure' },
)

export const Evidence = Type.Object(
  {
    evidence_version: Type.Enum([1, 2], { description: '2 with rules of version 2 or later.' }),
    rules_version: Type.Integer({ minimum: 1 }),
    profile: Type.Object({ action: Type.String(), version: Type.String() }),
    rules: Type.Object({
      required: plainObject<Readonly<Record<string, FieldRole>>>(),
      tolerance_ms: lengthMs,
      age_ms: lengthMs,
      removed_within_ms: lengthMs,
      fresh_ms: lengthMs,
      never_late: Type.Optional(Type.Literal(true)),
      closing_ms: lengthMs,
      grace_ms: lengthMs,
    }),
    claim: Type.Object({
      claim_digest: Hash,
      claimed_at: Timestamp,
      deadline_at: Timestamp,
      submitted_at: Timestamp,
      fresh: Type.Optional(
        Type.Boolean({ description: 'It was submitted just after the deed. From version 2 of the evidence on.' }),
      ),
      fresh_by: Type.Optional(Type.Enum(FRESH_REASONS)),
    }),
    decided_at: Timestamp,
    checks: Type.Array(Type.Union([EvidenceRead, EvidenceFailure]), { description: 'Every check, oldest first.' }),
  },
  { title: 'Evidence' },
)
export type Evidence = Static<typeof Evidence>
