/**
 * A plugin that goes for other workspaces: it keeps what it sees, and a claim of an attacker's workspace has it tell, ask or answer. The
 * tests of cells copy it into a package.
 */
import { createHash, randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import {
  bearer,
  type CheckContext,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  type Observation,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000
const SENTENCE = '{target} is there.'
const AS_MANY_RUNS = 60

const Params = Type.Object(
  { deed: Type.Optional(Type.String({ title: 'Deed' })), at: Type.Optional(Type.String({ title: 'At' })) },
  { additionalProperties: false },
)
const Facts = Type.Object(
  { told: Type.String({ title: 'Told', pattern: '^[!-~·]*$', maxLength: 1024 }) },
  { additionalProperties: false },
)
type Seen = Observation<Static<typeof Facts>>

const SELF = randomUUID()
/** All that its process got so far. */
const kept: string[] = []
/** Where connections lead, once a claim says so. */
let movedTo: string | undefined

// It replaces what reads the host's messages.
const { parse } = JSON
JSON.parse = (text: string, ...others: []) => {
  if (text.startsWith('{"k"')) kept.push(text)
  return parse(text, ...others)
}

/** No fact has words with spaces: the test puts them back. */
function told(text: string): Seen {
  return { kind: 'present', differs: [], facts: { told: text.slice(0, 1000).replaceAll(' ', '·') } }
}

function has(text: string): boolean {
  // What asks for it holds it, too.
  return kept.some((message) => message.includes(text) && !message.includes('tell'))
}

/** Says to the host what every run could say. */
function sayAsEveryRun(line: (run: number) => object): void {
  for (let run = 1; run <= AS_MANY_RUNS; run++) writeSync(3, `${JSON.stringify(line(run))}\n`)
}

/** A token of four digits, by what the host says of the connection's credentials. */
function guessed({ id, provider, options }: { id: string; provider: string; options: object }, key: string): string {
  for (let pin = 0; pin < 10_000; pin++) {
    const token = String(pin).padStart(4, '0')
    const text = JSON.stringify({ id, provider, options: { ...options, token } })
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      if (key.includes(createHash('sha256').update(text).digest(encoding))) return token
  }
  return 'nothing'
}

type Deed = (context: CheckContext, at: string) => Seen | Promise<Seen>

const DEEDS: Readonly<Record<string, Deed>> = {
  'waits a while': async (_, at) => {
    await wait(Number(at))
    return told('an honest answer')
  },
  'waits for ever': () => new Promise(() => {}),
  'tells its process': () => told(SELF),
  exits: () => process.exit(1),
  'tells what it kept': (_, at) => told(has(at) ? `it has ${at}` : 'nothing'),
  async 'asks as every run'(_, at) {
    // The host puts a credential where its handle is, in the run that has it.
    const tokens = new Set(kept.flatMap((message) => message.match(/(?<="token":")[^"]+/g) ?? []))
    for (const token of tokens) {
      const init = { auth: bearer(token) }
      sayAsEveryRun((run) => ({ k: 'call', id: 1_000_000 + run, run, method: 'fetch', args: [at, init] }))
    }
    await wait(300)
    return told('it asked')
  },
  'answers every run'(_, at) {
    sayAsEveryRun((id) => ({ k: 'ok', id, value: told(at) }))
    return told('it answered')
  },
  'guesses the PIN'({ connection }) {
    const key = kept.flatMap((message) => message.match(/(?<="cacheKey":")[^"]+/g) ?? []).at(-1)
    return told(guessed(connection!, key!))
  },
  'tells its share': ({ share }) => told(share),
  'moves connections'(_, at) {
    movedTo = at
    return told('it moved them')
  },
}

const verifier = defineVerifier<typeof Params, typeof Facts>({
  profile: {
    action: 'test.neighbour.visit',
    version: '1',
    summary: 'A visit.',
    words: {
      title: 'Visit',
      target: 'Page',
      claim: SENTENCE,
      outcomes: { verified: SENTENCE, late: SENTENCE, mismatch: SENTENCE, failed: SENTENCE },
    },
    target: Type.String({ minLength: 1, maxLength: 100 }),
    params: Params,
    facts: Facts,
    required: { target: 'target' },
    toleranceMs: 10 * MINUTE_MS,
    deadlineMs: 15 * MINUTE_MS,
    maxDeadlineMs: 24 * 60 * MINUTE_MS,
    rulesVersion: 1,
    access: { permission: 'none', anonymous: false },
  },
  providers: ['neighbours'],
  /** A claim's one form says whether the process has a text. */
  normalize: ({ target, params }) => ({
    target: target.startsWith('tell ') && has(target.slice('tell '.length)) ? 'it has it' : target,
    params,
  }),
  async check({ params: { deed = 'waits a while', at = '0' } }, context) {
    return DEEDS[deed]!(context, at)
  },
})

export default definePlugin({
  name: 'neighbours',
  api: 3,
  manifest: { hosts: ['connection.base_url'] },
  options: Type.Object({}),
  setup: () => ({
    verifiers: [verifier],
    connections: [
      defineConnectionType({
        provider: 'neighbours',
        title: 'Neighbours',
        help: 'None.',
        options: Type.Object({ base_url: Type.String(), token: secret({ description: 'A token.' }) }),
        baseUrl: ({ base_url }) => movedTo ?? base_url,
        fits: () => true,
        probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
      }),
    ],
  }),
})
