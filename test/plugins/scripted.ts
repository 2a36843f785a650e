/** A plugin whose verifier sees what the claim says that it sees, at a place that keeps a record: for tests of the service around it, and for the benchmark. */
import { DestinationError, definePlugin, defineVerifier, type Observation, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000
const PLACE = 'https://example.com'

export const profile = {
  action: 'test.outcome.reach',
  version: '1',
  summary: 'An outcome that is as the claim says.',
  words: {
    title: 'Outcome',
    target: 'Target',
    claim: '{target} is there.',
    outcomes: {
      verified: '{target} was there in time.',
      late: '{target} came too late.',
      mismatch: '{target} differs.',
      failed: '{target} was not there.',
    },
  },
  target: Type.String({ minLength: 1, maxLength: 100 }),
  params: Type.Object(
    {
      content: Type.Optional(Type.String({ title: 'Content' })),
      see: Type.Enum(
        ['present', 'absent', 'differs', 'unavailable', 'forbidden', 'rate_limited', 'throw', 'hang', 'nonsense'],
        { title: 'See' },
      ),
      retry_after_ms: Type.Optional(Type.Integer({ title: 'Retry after', minimum: 0 })),
      /** What it sees from this moment on, in milliseconds since the epoch. */
      later: Type.Optional(Type.Object({ at: Type.Integer(), see: Type.String() }, { title: 'Later' })),
    },
    { additionalProperties: false },
  ),
  facts: Type.Object(
    { seen: Type.String({ title: 'Seen', pattern: '^[a-z_]{1,32}$' }) },
    { additionalProperties: false },
  ),
  required: { target: 'target', content: 'content' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: true },
} as const

const verifier = defineVerifier<typeof profile.params, typeof profile.facts>({
  profile,
  providers: [],
  anonymousSource: () => ({ provider: 'test', baseUrl: PLACE }),
  async check({ params }, context) {
    await context.ask(PLACE, async () => {})
    const { later } = params
    const see = later && context.now() >= later.at ? later.see : params.see
    const facts = { seen: see }
    // By the place's own record, it was not there before: what comes later is late, and what never comes is blamed.
    const record = later ? ({ mark: 'never_before' } as const) : { stays: [] }
    switch (see) {
      case 'present':
        return { kind: 'present', facts, differs: [] }
      case 'differs':
        return { kind: 'present', facts, differs: ['content'], ...record }
      case 'absent':
        return { kind: 'absent', facts, ...record }
      case 'hang':
        return new Promise(() => {})
      case 'throw':
        throw new TypeError('a mistake in the verifier')
      case 'nonsense':
        return { kind: 'present', facts: { seen: 1.5 }, differs: ['verified'] } as unknown as Observation<{
          seen: string
        }>
      default:
        throw new DestinationError(
          see as 'unavailable',
          params.retry_after_ms === undefined ? {} : { retryAfterMs: params.retry_after_ms },
        )
    }
  },
})

export default definePlugin({
  name: 'scripted',
  api: 3,
  // Its program is none, and always has an answer: a check costs no request.
  manifest: { hosts: ['example.com'], programs: ['none'] },
  options: Type.Object({}),
  setup: () => ({ verifiers: [verifier] }),
})
