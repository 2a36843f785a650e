/** The wire format of revisits: looks at decided claims, to tell whether what was verified is still there. */
import { CHANGES } from '../receipt/finding.ts'
import { REVISIT_RESULTS } from '../rules/revisit.ts'
import { type Static, Type } from '../typebox.ts'
import { nullable, plainObject, Timestamp } from './primitives.ts'

export const Revisit = Type.Object(
  {
    revisit_id: Type.String({ examples: ['rvt_01M82WPTA0QH9V7R3JYB6ZK4CD'] }),
    asked_at: Timestamp,
    asked_by: Type.Enum(['owner', 'schedule']),
    result: nullable(
      Type.Enum(REVISIT_RESULTS, {
        description:
          'null while it is looked at. `changed`: it is no longer there as claimed. The verdict stays: it was right when it was checked, and others may change a destination. `cannot_be_told`: the destination could not be read, or what was read is no evidence.',
      }),
    ),
    ended_at: nullable(Timestamp),
    seen_at: nullable({ ...Timestamp, description: 'When the destination showed what the result rests on.' }),
    found: Type.Optional(Type.Enum(CHANGES, { description: 'With `changed`: nothing was there, or something else.' })),
    finding_id: Type.Optional(Type.String({ description: 'With `changed`: the id of the signed finding.' })),
  },
  { title: 'Revisit' },
)
export type Revisit = Static<typeof Revisit>

export const Finding = Type.Object(
  {
    body: plainObject({ description: 'What is signed, under the domain `CLAIMCHECK-FINDING-V1`.' }),
    signature: Type.Object({
      alg: Type.Literal('Ed25519'),
      key_id: Type.String(),
      value: Type.String({ description: 'base64url.' }),
    }),
    proof: plainObject({ description: 'The proof that it is in the log, as that of a receipt.' }),
  },
  { title: 'Finding', description: 'An entry of the log which says that what a receipt verified has changed since.' },
)
