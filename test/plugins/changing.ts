/** A plugin whose profile is as its options say: for tests in which an operator installs another version of it. */
import { DestinationError, definePlugin, defineVerifier, type Observation, Type } from '@claimcheck/core/plugin'

const base = {
  action: 'test.rules.change',
  version: '1',
  summary: 'Something whose rules change.',
  words: {
    title: 'Change',
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
      see: Type.Enum(['present', 'absent', 'unavailable'], { title: 'See' }),
      /** What it sees from a moment on, in milliseconds since the epoch. */
      later: Type.Optional(Type.Object({ at: Type.Integer(), see: Type.String() }, { title: 'Later' })),
    },
    { additionalProperties: false },
  ),
  facts: Type.Object({}, { additionalProperties: false }),
  required: {},
  toleranceMs: 1000,
  deadlineMs: 60_000,
  maxDeadlineMs: 60 * 60_000,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: true },
} as const

export default definePlugin({
  name: 'changing',
  api: 3,
  manifest: { hosts: ['example.com'], programs: ['none'] },
  options: Type.Object({
    versions: Type.Optional(Type.Array(Type.String())),
    tolerance_ms: Type.Optional(Type.Integer()),
    title: Type.Optional(Type.String()),
    /** 2: by rules of that version, at a place without a log. */
    rules_version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
  }),
  setup(_, options) {
    const { versions = ['1'], tolerance_ms: toleranceMs = base.toleranceMs, title = base.words.title } = options
    const { rules_version: rulesVersion = 1 } = options
    const verifiers = versions.map((version) =>
      defineVerifier<typeof base.params, typeof base.facts>({
        profile: { ...base, version, toleranceMs, rulesVersion, words: { ...base.words, title } },
        providers: [],
        anonymousSource: () => ({ provider: 'test', baseUrl: 'https://example.com' }),
        async check({ params: { see, later } }, { now, ask }): Promise<Observation<Record<never, never>>> {
          await ask('https://example.com', async () => {})
          const seen = later && now() >= later.at ? later.see : see
          if (seen === 'unavailable') throw new DestinationError('unavailable')
          if (seen === 'absent') return { kind: 'absent', facts: {}, ...(rulesVersion === 1 ? { stays: [] } : {}) }
          return { kind: 'present', facts: {}, differs: [] }
        },
      }),
    )
    return { verifiers }
  },
})
