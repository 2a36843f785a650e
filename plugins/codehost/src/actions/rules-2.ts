/**
 * Versions of actions that rules 2 judge, for claims that were submitted under them and wait still. Rules 3 know themselves when a first look
 * came too late to exclude that an outcome came and went before it; under rules 2 a mark says so.
 */
import { isLateLook, type Observation, type TSchema } from '@claimcheck/core/plugin'
import type { FoundRepository, RepositoryQuery } from '../code-host.ts'
import { type Action, type ActionOptions, defineAction } from './action.ts'

export function underRules2<P extends TSchema, F extends TSchema, Q extends RepositoryQuery, X extends FoundRepository>(
  options: ActionOptions<P, F, Q, X>,
  version: string,
): Action {
  const { shows: _, ...profile } = options.profile
  return defineAction({
    ...options,
    profile: { ...profile, version, rulesVersion: 2 },
    async observe(found, claim, query) {
      const observation = await options.observe(found, claim, query)
      const { mark, stays } = observation
      const isShown = observation.kind === 'present' && observation.differs.length === 0
      if (isShown || mark !== undefined || stays !== undefined || !isLateLook(query)) return observation
      return { ...observation, mark: 'may_have_been' } as Observation<never>
    },
  })
}
