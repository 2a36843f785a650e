/** The wire format of what is left of an erased receipt. */
import { type Static, Type } from '../typebox.ts'
import { count, Hash, nullable, Timestamp } from './primitives.ts'

const members = {
  erased_at: Timestamp,
  rule: Type.String({ description: 'Why: a code.', examples: ['court_order'] }),
  reference: nullable(Type.String({ description: 'What the operator names beside the rule, such as a file number.' })),
}

export const Erasure = Type.Object(members, {
  title: 'Erasure',
  description:
    'Given when the content of the claim was erased. Its agent, target and other texts are then empty; ids, times and verdict stay.',
})
export type Erasure = Static<typeof Erasure>

export const ErasedReceipt = Type.Object(
  {
    ...members,
    receipt_id: Type.String(),
    issued_at: Timestamp,
    leaf_index: count({ description: 'Its entry in the log, which stays.' }),
    leaf_hash: Hash,
  },
  { title: 'ErasedReceipt' },
)
export type ErasedReceipt = Static<typeof ErasedReceipt>

export const ErasedBody = Type.Object(
  { detail: Type.String({ description: 'That it was erased, when, and by which rule.' }), erased: ErasedReceipt },
  { title: 'Erased' },
)
export type ErasedBody = Static<typeof ErasedBody>
