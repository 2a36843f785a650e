/** People: accounts, ways to sign in, sessions, and membership in workspaces. */
import { addUserCommands } from '../../cli/commands/user.ts'
import type { Feature } from '../../host/feature.ts'

export const peopleFeature = {
  name: 'people',
  services: async () => {
    const { services } = await import('./services.ts')
    return services
  },
  commands: addUserCommands,
} satisfies Feature
