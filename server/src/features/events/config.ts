/** The configuration of events: `events`. */
import { Type } from '@claimcheck/core/plugin'
import type { MembersOf } from '../../config/section.ts'
import { settingsSection } from '../../config/settings.ts'

export const eventsConfig = settingsSection({
  events: {
    /** The age in days at which events are removed. */
    retentionDays: [Type.Integer({ minimum: 1, maximum: 3_650 }), 30],
  },
})

export type EventsConfig = MembersOf<typeof eventsConfig>
