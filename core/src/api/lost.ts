/** The wire format of what is known of a receipt that was lost with the newest entries of its log. */
import { type Static, Type } from '../typebox.ts'
import { count, Hash } from './primitives.ts'

export const LostReceipt = Type.Object(
  {
    receipt_id: Type.String(),
    log_id: Type.String({ description: 'The log that ended without it.' }),
    leaf_index: count({ description: 'The entry that it was.' }),
    leaf_hash: Hash,
  },
  { title: 'LostReceipt' },
)
export type LostReceipt = Static<typeof LostReceipt>

export const LostBody = Type.Object(
  { detail: Type.String({ description: 'That it is of a log that ended, and what to do.' }), lost: LostReceipt },
  { title: 'Lost' },
)
export type LostBody = Static<typeof LostBody>
