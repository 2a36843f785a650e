/** A plugin with a destination that never answers. */
import { definePlugin, defineVerifier } from '@claimcheck/core/plugin'
import { Type } from 'typebox'
import { profile } from '../../test/plugins/scripted.ts'

export const HANGING_ACTION = 'test.outcome.await'

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile: { ...profile, action: HANGING_ACTION },
  providers: [],
  anonymousSource: () => ({ provider: 'test', baseUrl: 'https://hanging.example' }),
  check: () => new Promise(() => {}),
})

// biome-ignore lint/style/noDefaultExport: a plugin is its module's default export
export default definePlugin({
  name: 'hanging',
  api: 3,
  manifest: { hosts: ['hanging.example'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier] }),
})
