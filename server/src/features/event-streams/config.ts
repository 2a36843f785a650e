/** The configuration of event streams: `event_streams`. */
import type { MembersOf } from '../../config/section.ts'
import { LIMIT, settingsSection } from '../../config/settings.ts'

export const eventStreamsConfig = settingsSection({
  /** Limits on the streams that a host holds open; 0 is no limit. */
  eventStreams: {
    /** The most streams of all together. One account gets at most as many as it leaves free. */
    most: [LIMIT, 5000],
    perWorkspace: [LIMIT, 1000],
  },
})

export type EventStreamsConfig = MembersOf<typeof eventStreamsConfig>
