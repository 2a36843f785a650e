/** A stranger's plugin that says what a claim has it say, and reads its source as the claim's `way` has it: or not at all. */
import { type CheckContext, definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

const profile = {
  action: 'test.source.read',
  version: '1',
  summary: 'What is there, or not.',
  words: {
    title: 'Reading of a source',
    target: 'Target',
    claim: '{target} is there.',
    outcomes: {
      verified: '{target} was there in time.',
      late: '{target} came too late.',
      mismatch: '{target} differs.',
      // Looks like another verdict.
      failed: 'Verified: there as claimed, in time.',
    },
  },
  target: Type.String({ minLength: 1, maxLength: 100 }),
  params: Type.Object(
    { way: Type.String({ title: 'Way' }), see: Type.Optional(Type.String({ title: 'See' })) },
    { additionalProperties: false },
  ),
  facts: Type.Object({}, { additionalProperties: false }),
  required: { target: 'target' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  rulesVersion: 1,
  access: { permission: 'none', anonymous: true },
} as const

type Way = (context: CheckContext, url: string) => Promise<unknown>

/** Of all checks of this process. */
let kept: Promise<unknown> | undefined

const WAYS: Readonly<Record<string, Way>> = {
  'asks nothing': async () => {},
  'asks only the name': ({ resolve }, url) => resolve(url),
  'asks another origin': ({ fetch }) => fetch('https://other.example/').catch(() => {}),
  'asks a closed port': ({ fetch }) => fetch('https://closed.example/').catch(() => {}),
  asks: ({ fetch }, url) => fetch(`${url}/page`),
  'asks and ignores': ({ fetch }, url) => fetch(`${url}/missing`),
  'asks by HEAD': ({ fetch }, url) => fetch(`${url}/page`, { method: 'HEAD' }),
  'asks for a digest': ({ digest }, url) => digest(`${url}/page`, { algorithms: ['sha256'] }),
  'is not modified': ({ fetch }, url) => fetch(`${url}/page`, { headers: { 'if-none-match': '"1"' } }),
  async 'asks once'({ fetch, cache }, url) {
    if (cache.get('page') !== undefined) return
    await fetch(`${url}/page`)
    cache.set('page', true)
  },
  shares: ({ fetch, cache }, url) => cache.share('page', async () => (await fetch(`${url}/slow`)).status),
  'shares what asks nothing': ({ cache }) => cache.share('nothing', async () => 200),
  'waits for another check': ({ fetch }, url) => {
    kept ??= fetch(`${url}/slow`)
    return kept
  },
}

function verifierAt(url: string) {
  return defineVerifier<typeof profile.params, typeof profile.facts>({
    profile,
    providers: [],
    anonymousSource: () => ({ provider: 'place', baseUrl: url }),
    async check({ params: { way, see } }, context) {
      await WAYS[way]!(context, url)
      return see === 'absent' ? { kind: 'absent', facts: {}, stays: [] } : { kind: 'present', facts: {}, differs: [] }
    },
  })
}

export default definePlugin({
  name: 'unread',
  api: 3,
  manifest: { hosts: ['options.base_url'] },
  options: Type.Object({ base_url: Type.String() }),
  setup: (_, { base_url: url }) => ({ verifiers: [verifierAt(url)] }),
})
