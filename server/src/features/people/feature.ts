/** People: accounts, ways to sign in, sessions, and membership in workspaces. */

import type { Feature } from '../../host/feature.ts'
import { peopleAuditWords } from './audit-words.ts'
import { addUserCommands } from './commands/user.ts'
import { peopleConfig } from './config.ts'
import { peopleStored } from './stored.ts'

export const peopleFeature = {
  name: 'people',
  stored: peopleStored,
  auditWords: peopleAuditWords,
  config: peopleConfig,
  services: async () => {
    const { services } = await import('./services.ts')
    return services
  },
  commands: addUserCommands,
} satisfies Feature
