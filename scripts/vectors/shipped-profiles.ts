/** The profiles that come with Claimcheck: in their newest versions, and as a service publishes what decides in them. */
import type { ActionProfile } from '@claimcheck/core/plugin'
import { CLOSING } from '@claimcheck/core/rules'
import { loadConfig } from '@claimcheck/server/features'
import { profileList } from '@claimcheck/server/features/claims/profile-list'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import { pino } from 'pino'

export async function shippedProfiles(): Promise<{
  readonly newest: ReadonlyMap<string, ActionProfile>
  readonly published: object
}> {
  const registry = await loadPlugins(loadConfig({}, '.'), { logger: pino({ level: 'silent' }), now: Date.now })
  const profiles = registry.profiles()
  await Promise.all(registry.plugins.map(({ parts }) => parts.close()))
  return {
    newest: new Map(profiles.map((profile) => [profile.action, profile])),
    published: {
      profiles: profileList(profiles, CLOSING).profiles.map(
        ({ summary: _, titles: __, words: { found = {} }, ...rest }) => ({
          ...rest,
          words: { found },
        }),
      ),
    },
  }
}
