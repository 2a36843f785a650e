/** The wire format of claims: how they are submitted, and how their state is reported. */
import { ACTION_PATTERN, type ActionProfile } from '../profile.ts'
import { type Static, type TSchema, Type } from '../typebox.ts'
import { REASONS, VERDICTS } from '../verdict.ts'
import { Erasure } from './erasure.ts'
import { MAX_BYTES, nullable, plainObject, Timestamp } from './primitives.ts'
import { Revisit } from './revisit.ts'

const ACTION = 'codehost.commit.push'
const TARGET = 'octo-org/hello-world'

const Verdict = Type.Enum(VERDICTS, { description: 'What the evidence says about the claim.' })
const Reason = Type.Enum(Object.values(REASONS).flat(), { description: 'Given with every verdict but `verified`.' })
const State = Type.Enum(['queued', 'decided'], {
  description: '`queued` claims are checked again until their deadline.',
})

// The schema of a submitted claim. Its lengths are those of the published receipt schema, so that every accepted claim fits into a receipt.
export const ClaimRequest = Type.Object(
  {
    client_claim_id: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Chosen by the client. Submitting the same value again returns the same claim.',
      examples: ['run-4711'],
    }),
    agent_id: Type.String({ minLength: 1, maxLength: 256, description: 'Who claims.', examples: ['release-bot'] }),
    action: Type.String({
      pattern: ACTION_PATTERN,
      'x-pattern-help': 'write three names in lower case with dots between them',
      maxLength: 128,
      description: 'What is claimed.',
      examples: [ACTION],
    }),
    target: Type.String({ minLength: 1, maxLength: 512, description: 'Where it was done.', examples: [TARGET] }),
    params: Type.Optional(
      plainObject({
        description:
          'What exactly was done, in the terms of the action. At most 4 KiB. May be left out where the action needs none.',
        [MAX_BYTES]: 4096,
        examples: [{ sha: '0123456789abcdef0123456789abcdef01234567', branch: 'main' }],
      }),
    ),
    claimed_at: Type.String({
      format: 'date-time',
      maxLength: 64,
      description:
        'When it was done, according to the agent. RFC 3339 with any offset; it is recorded in UTC, cut to milliseconds.',
      examples: ['2026-09-25T14:02:11.000Z'],
    }),
    claimed_ago_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'How long ago it was done when this request is sent, by a monotonic clock, in milliseconds. It is measured anew at each try, and is no part of the claim. It says whether the claim is fresh where the clock behind `claimed_at` is wrong; a claim whose tolerance ended before that is refused.',
        examples: [350],
      }),
    ),
    deadline_at: Type.Optional(
      Type.String({
        format: 'date-time',
        maxLength: 64,
        description: 'Until when to look for the outcome, with any offset. Each action has its own default and limits.',
      }),
    ),
  },
  { title: 'ClaimRequest', additionalProperties: false },
)
export type ClaimRequest = Static<typeof ClaimRequest>

/** A claim request: target and params must be as the action's profile says. Claims of unknown actions can have any. */
export function claimRequest(profiles: readonly ActionProfile[]) {
  const byAction = profiles.map(({ action, aliases = {}, target, params }) => ({
    if: { properties: { action: { enum: [action, ...Object.keys(aliases)] } }, required: ['action'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, never awaited
    then: {
      properties: { target, params },
      ...(isRequired(params) ? { required: ['params'] } : {}),
    },
  }))
  return Type.Unsafe<ClaimRequest>({ ...ClaimRequest, ...(byAction.length > 0 ? { allOf: byAction } : {}) })
}

function isRequired(params: TSchema): boolean {
  const { required = [] } = params as { readonly required?: readonly string[] }
  return required.length > 0
}

export const LastCheck = Type.Object(
  {
    at: Timestamp,
    result: Type.Enum(['present', 'differs', 'absent', 'failed'], {
      description: '`failed`: the destination could not be read. This is never evidence for or against the agent.',
    }),
    code: Type.Optional(Type.String({ description: 'With `failed`: why.' })),
    status: Type.Optional(Type.Integer({ description: 'With `failed`: the HTTP status of the answer.' })),
    differs: Type.Optional(Type.Array(Type.String(), { description: 'With `differs`: the fields that do not match.' })),
    facts: Type.Optional(plainObject()),
  },
  { title: 'LastCheck' },
)
export type LastCheck = Static<typeof LastCheck>

const statusMembers = {
  claim_id: Type.String({ maxLength: 64 }),
  client_claim_id: Type.String(),
  agent_id: Type.String(),
  action: Type.String(),
  target: Type.String(),
  claimed_at: Timestamp,
  deadline_at: Timestamp,
  submitted_at: Timestamp,
  claim_digest: Type.String({
    description:
      'A hash of the claim. It shows whether the claim that is stored under this client_claim_id is the submitted one.',
  }),
  state: State,
  attempts: Type.Integer({ minimum: 0, description: 'Checks made so far.' }),
  next_check_at: nullable(Timestamp),
  expected_by: Type.Optional({
    ...Timestamp,
    description: 'While the claim is queued: by when its verdict is to be expected, at the latest.',
  }),
  receipt_id: nullable(Type.String({ description: 'null while the claim is queued.' })),
  verdict: nullable(Verdict),
  reason_code: nullable(Reason),
  last_check: nullable(LastCheck),
  erased: Type.Optional(Erasure),
  revisits: Type.Optional(
    Type.Array(Revisit, {
      description:
        'Where one claim is read: the looks at it since it was decided, oldest first. They change neither verdict nor receipt.',
    }),
  ),
}

export const ClaimStatus = Type.Object(statusMembers, { title: 'ClaimStatus' })
export type ClaimStatus = Static<typeof ClaimStatus>

export const SubmittedClaim = Type.Object(
  { ...statusMembers, created: Type.Boolean({ description: 'false: the claim existed already.' }) },
  { title: 'SubmittedClaim' },
)
export type SubmittedClaim = Static<typeof SubmittedClaim>

export const ClaimList = Type.Object(
  {
    claims: Type.Array(ClaimStatus, { description: 'Newest first.' }),
    next_cursor: nullable(
      Type.String({
        description:
          'null: there are no more. A page of several filters looks through 10,000 claims: it may have few, or none, and lead on.',
      }),
    ),
  },
  { title: 'ClaimList' },
)
export type ClaimList = Static<typeof ClaimList>

export const ClaimQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: Type.Optional(Type.String({ maxLength: 512, description: 'The `next_cursor` of the page before.' })),
    agent_id: Type.Optional(Type.String({ maxLength: 256 })),
    action: Type.Optional(Type.String({ maxLength: 128 })),
    verdict: Type.Optional(Verdict),
    state: Type.Optional(State),
  },
  { additionalProperties: false },
)
export type ClaimQuery = Static<typeof ClaimQuery>
