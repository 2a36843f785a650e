/** Profiles on the wire: the rules by which claims are judged, in every version that still judges some. */
import { type Static, Type } from 'typebox'
import { plainObject } from './primitives.ts'

const lengthMs = Type.Integer({ minimum: 0, description: 'Milliseconds.' })

export const ProfileList = Type.Object(
  {
    profiles: Type.Array(
      Type.Object(
        {
          action: Type.String(),
          version: Type.String(),
          rules_version: Type.Integer({ minimum: 1 }),
          summary: Type.String(),
          required: plainObject({ description: 'The fields that must match, each with its role.' }),
          tolerance_ms: lengthMs,
          deadline_ms: lengthMs,
          max_deadline_ms: lengthMs,
          age_ms: lengthMs,
          removed_within_ms: lengthMs,
        },
        { title: 'Profile' },
      ),
    ),
  },
  { title: 'ProfileList' },
)
export type ProfileList = Static<typeof ProfileList>
