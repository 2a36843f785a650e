/** A whole plugin: a page is at the address where an agent claims to have published it. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const profile = {
  action: 'web.page.publish',
  version: '1',
  summary: 'A page was published: it can be read at the address.',
  words: {
    title: 'Publication of a page',
    target: 'Address',
    claim: 'A page was published at {target}.',
    outcomes: {
      verified: 'The page was at {target} in time.',
      late: 'The page came to {target} too late.',
      mismatch: 'Another page is at {target}.',
      failed: 'No page was at {target}.',
    },
  },
  target: Type.String({ pattern: '^https?://', description: 'The address of the page.' }),
  params: Type.Object({}, { additionalProperties: false }),
  facts: Type.Object(
    { status: Type.Integer({ title: 'Status', description: 'The HTTP status of the answer.' }) },
    { additionalProperties: false },
  ),
  required: { target: 'target' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 1,
  access: { permission: 'none: the page is public', anonymous: true },
} as const

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile,
  providers: [],
  anonymousSource: ({ target }) => ({ provider: 'web', baseUrl: new URL(target).origin }),
  async check({ target }, { http }) {
    // Of a public page, 404 says that it is not there. Any other refusal says nothing.
    const { status } = await http.head(target, { also: [404] })
    return status === 404 ? { kind: 'absent', facts: { status } } : { kind: 'present', facts: { status }, differs: [] }
  },
})

export default definePlugin({
  name: 'web',
  api: 3,
  manifest: { hosts: ['target'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [verifier] }),
})
