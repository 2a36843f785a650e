/** The configuration of webhooks: `webhooks`. */
import { Type } from '@claimcheck/core/plugin'
import { HOSTS, readHosts } from '../../config/allow-private.ts'
import { closed, configSection, type MembersOf } from '../../config/section.ts'

const FILE = { webhooks: Type.Optional(closed({ allow_private: Type.Optional(HOSTS) })) }

export const webhooksConfig = configSection(FILE, ({ webhooks }, { reportInFile }) => ({
  webhooks: {
    /** `host[:port]` entries that webhooks may call although they are private or use plain http. What checks may read is no such entry. */
    allowPrivate: readHosts(webhooks?.allow_private ?? [], 'webhooks.allow_private', reportInFile),
  },
}))

export type WebhooksConfig = MembersOf<typeof webhooksConfig>
