/** A plugin that does to its host what its claims name, or to others what it can: the tests of isolation copy it into a package. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { USUAL_ANSWER_BYTES } from '@claimcheck/core/hosting'
import {
  bearer,
  CEILING,
  type CheckContext,
  credential,
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

const Params = Type.Object(
  { deed: Type.Optional(Type.String({ title: 'Deed' })), at: Type.Optional(Type.String({ title: 'At' })) },
  { additionalProperties: false },
)
const Facts = Type.Object(
  {
    status: Type.Optional(Type.Integer({ title: 'Status' })),
    told: Type.Optional(Type.String({ title: 'Told', pattern: '^[!-~·]*$', maxLength: 1024 })),
  },
  { additionalProperties: false },
)
type Seen = Observation<Static<typeof Facts>>

const PRESENT: Seen = { kind: 'present', differs: [], facts: {} }

/** No fact has words with spaces: the tests put them back. */
function told(text: string): Seen {
  return { ...PRESENT, facts: { told: text.slice(0, 1000).replaceAll(' ', '·') } }
}

/** What stands in the way of an attempt; `done` when nothing does. */
async function hindrance(attempt: () => unknown): Promise<Seen> {
  try {
    await attempt()
    return told('done')
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return told(code ?? message.split('\n')[0]!)
  }
}

function reached(options: { port: number; host: string } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => connect(options as never, resolve).on('error', reject))
}

type Deed = (context: CheckContext, at: string) => Seen | Promise<Seen>

const DEEDS: Readonly<Record<string, Deed>> = {
  loops() {
    for (;;);
  },
  computes(_, at) {
    for (const end = process.cpuUsage().user + Number(at) * 1000; process.cpuUsage().user < end; );
    return PRESENT
  },
  async 'loops in microtasks'() {
    for (;;) await null
  },
  async 'loops in a timer'() {
    setTimeout(() => {
      for (;;);
    }, 5)
    await wait(60_000)
    return PRESENT
  },
  'loops in a getter': () =>
    ({
      kind: 'present',
      differs: [],
      get facts(): never {
        for (;;);
      },
    }) as Seen,
  'burns while nothing is asked'() {
    setInterval(() => {
      for (const end = performance.now() + 200; performance.now() < end; );
    }, 1)
    return PRESENT
  },
  exits: () => process.exit(0),
  'kills itself': async () => {
    process.kill(process.pid, 'SIGKILL')
    await wait(60_000)
    return PRESENT
  },
  aborts: () => process.abort(),
  'fills the heap'() {
    const kept: number[][] = []
    for (;;) kept.push(new Array(100_000).fill(kept.length))
  },
  'fills buffers'() {
    const kept: Buffer[] = []
    for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1))
  },
  'writes escape sequences to the log'({ logger }) {
    logger.warn({ '\u001b[2J': ['\u009b2J'], err: new Error('\u001b[1A\u202e') }, '\u001b]0;title\u0007a line\r')
    return PRESENT
  },
  'throws escape sequences': () => Promise.reject(new Error('\u001b[2J')),
  'dies with escape sequences'() {
    writeSync(2, '\u001b[2Jdead\r')
    process.exit(1)
  },
  async 'floods the log'({ logger }) {
    for (let line = 0; ; line++) {
      logger.info({ line, padding: 'x'.repeat(1000) }, 'a line')
      if (line % 1000 === 0) await new Promise(setImmediate)
    }
  },
  async 'floods the pipe'() {
    const garbage = Buffer.alloc(65_536, 'x')
    for (;;) {
      try {
        writeSync(3, garbage)
      } catch {
        await wait(1)
      }
    }
  },
  'writes to its pipe': async (_, at) => {
    writeSync(3, `${at}\n`)
    await wait(60_000)
    return PRESENT
  },
  async 'prints without end'() {
    const line = Buffer.alloc(65_536, 'x')
    for (;;) {
      writeSync(1, line)
      await new Promise(setImmediate)
    }
  },
  async 'sends nested messages'() {
    const nested = `{"k":"log","level":"info","text":"","fields":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n`
    for (;;) {
      writeSync(3, nested)
      await wait(1)
    }
  },
  'sends nested messages for long'(_, at) {
    const nested = `{"k":"log","level":"info","text":"","fields":${'['.repeat(20_000)}${']'.repeat(20_000)}}\n`
    setInterval(() => writeSync(3, nested), Number(at))
    return PRESENT
  },
  'speaks another protocol': async () => {
    writeSync(3, '{"k":"what is this"}\n')
    await wait(60_000)
    return PRESENT
  },
  'returns megabytes': () => told('x').facts && ({ ...PRESENT, facts: { told: 'x'.repeat(3_000_000) } } as Seen),
  'rejects without a listener'() {
    void Promise.reject(new Error('nobody listens'))
    return PRESENT
  },
  'breaks a stream'() {
    setTimeout(() => new Readable().emit('error', new Error('a broken stream')), 1)
    return PRESENT
  },
  'throws in a timer'() {
    setTimeout(() => {
      throw new Error('in a timer')
    }, 1)
    return PRESENT
  },
  'replaces JSON.parse'() {
    JSON.parse = () => ({ kind: 'present', differs: [], facts: {} })
    return PRESENT
  },
  'reads its environment': () => told(JSON.stringify(process.env)),
  'reads a file': (_, at) => hindrance(() => readFileSync(at)),
  async 'lists the root'() {
    let names = ''
    const seen = await hindrance(() => {
      names = readdirSync('/').join(' ')
    })
    return names === '' ? seen : told(names)
  },
  'starts a program': () => hindrance(() => execFileSync('/usr/bin/env')),
  'starts a worker': () => hindrance(() => new Worker('', { eval: true })),
  'opens a connection': (_, at) => hindrance(() => reached({ port: Number(at), host: '127.0.0.1' })),
  'opens a Unix socket': (_, at) => hindrance(() => reached({ path: at })),
  'signals a process': (_, at) => hindrance(() => process.kill(Number(at), 0)),
  'slows a process': (_, at) => hindrance(() => setPriority(Number(at), 19)),
  'asks another host': ({ fetch }) => hindrance(() => fetch('https://example.com/')),
  'reveals a credential': ({ reveal, connection }) =>
    hindrance(() => reveal(bearer(connection!.options.token as string))),
  'tells its token': ({ connection }) => told(String(connection!.options.token)),
  async 'tells what it sent'({ http, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const { value } = await http.json(`${base_url}/echo`, {
      schema: Type.Object({ sent: Type.String() }),
      auth: bearer(token),
    })
    return told(Buffer.from(value.sent).toString('base64'))
  },
  async 'spends a declared credential'({ fetch, connection }) {
    const { base_url } = connection!.options as { base_url: string }
    const { status, url } = await fetch(`${base_url}/secret:hook/page`, { auth: credential('hook') })
    return told(`${status} ${url.slice(base_url.length)}`)
  },
  'makes a fingerprint': async ({ fingerprint }, at) => told(await fingerprint(credential('fingerprints'), at)),
  'makes fingerprints of long texts': async ({ fingerprint }) => {
    // A control character is the longest in a message.
    const made = await fingerprint(credential('fingerprints'), '\u0001'.repeat(32_768))
    const { facts } = await hindrance(() => fingerprint(credential('fingerprints'), 'a'.repeat(32_769)))
    return told(`${made.length} ${facts.told}`)
  },
  'makes a fingerprint by another secret': ({ fingerprint }) =>
    hindrance(() => fingerprint(credential('hook'), 'text')),
  'puts a declared secret into a header': ({ fetch, connection }) => {
    const { base_url, hook } = connection!.options as { base_url: string; hook: string }
    return hindrance(() => fetch(`${base_url}/echo`, { auth: bearer(hook) }))
  },
  'names a credential of another form': ({ fetch, connection }) =>
    hindrance(() => fetch(String(connection!.options.base_url), { auth: { scheme: 'credential' } as never })),
  async 'reads a body'({ fetch, connection }, at) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const response = await fetch(`${base_url}/${at}`, { auth: bearer(token) })
    const text = await response.text()
    return told(`${text.length} ${text.slice(0, 3)}`)
  },
  async 'computes a digest'({ digest, connection }, at) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const { bytes, digests, headers } = await digest(`${base_url}/${at}`, {
      algorithms: ['sha256'],
      auth: bearer(token),
    })
    return told(`${bytes} ${digests.sha256} ${headers.get('content-type')}`)
  },
  'asks for a digest that there is not': ({ digest, connection }) =>
    hindrance(() => digest(connection!.options.base_url as string, { algorithms: ['md5' as 'sha256'] })),
  'asks for a digest in another form': ({ digest, connection }) =>
    hindrance(() => digest(connection!.options.base_url as string, {} as never)),
  async 'reads many bodies at once'({ fetch, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const answers = Array.from({ length: 60 }, () => fetch(`${base_url}/large`, { auth: bearer(token) }))
    return told(String((await Promise.all(answers)).length))
  },
  async 'reads as much as it may'({ fetch, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    for (let count = 0; count < CEILING.requests; count++) {
      const response = await fetch(`${base_url}/large`, { auth: bearer(token) })
      await response.text()
    }
    return PRESENT
  },
  async 'reads a part of a body'({ fetch, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const { body } = await fetch(`${base_url}/large`, { auth: bearer(token) })
    const reader = body!.getReader()
    const { value } = await reader.read()
    await reader.cancel()
    return told(`${value!.length > 0 && value!.length <= 65_536}`)
  },
  async 'reads a body that ends too early'({ fetch, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    const response = await fetch(`${base_url}/torn`, { auth: bearer(token) })
    return hindrance(() => response.text())
  },
  async 'asks as often as it may'({ fetch, connection }) {
    const { base_url, token } = connection!.options as { base_url: string; token: string }
    for (let count = 0; count < CEILING.requests; count++) await fetch(`${base_url}/page`, { auth: bearer(token) })
    await wait(300)
    return PRESENT
  },
  async 'waits a while'(_, at) {
    await wait(Number(at))
    return PRESENT
  },
  async 'waits for many calls'({ resolve, connection }) {
    const { base_url } = connection!.options as { base_url: string }
    const answers = await Promise.allSettled(Array.from({ length: 1000 }, () => resolve(base_url)))
    return told(String(answers.filter(({ status }) => status === 'fulfilled').length <= 64))
  },
  'tells the time': ({ now }) => told(String(now())),
  'waits for ever': () => new Promise(() => {}),
}

const verifier = defineVerifier<typeof Params, typeof Facts>({
  profile: {
    action: 'test.deed.do',
    version: '1',
    summary: 'A deed.',
    words: {
      title: 'Deed',
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
  providers: ['deeds'],
  limits: { requests: CEILING.requests, bodyBytes: USUAL_ANSWER_BYTES },
  async check({ target, params: { deed, at = '' } }, context) {
    if (deed !== undefined) return DEEDS[deed]!(context, at)
    const { base_url, token } = context.connection!.options as { base_url: string; token: string }
    const { status, value } = await context.http.json(`${base_url}/${target}`, {
      schema: Type.Object({}),
      auth: bearer(token),
      also: [404],
    })
    return value === undefined
      ? { kind: 'absent', facts: { status } }
      : { kind: 'present', differs: [], facts: { status } }
  },
})

const connection = defineConnectionType({
  provider: 'deeds',
  title: 'Deeds',
  help: 'None.',
  options: Type.Object({
    base_url: Type.String(),
    token: secret({ description: 'A token.' }),
    hook: Type.Optional(secret({ description: 'A token in the path.' })),
  }),
  credentials: {
    hook: { scheme: 'path', secret: 'hook' },
    fingerprints: { scheme: 'fingerprint', key: 'hook' },
  },
  baseUrl: ({ base_url }) => base_url,
  fits: () => true,
  probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
})

export default definePlugin({
  name: 'deeds',
  api: 3,
  manifest: { hosts: ['connection.base_url'] },
  options: Type.Object({}),
  setup() {
    return { verifiers: [verifier], connections: [connection] }
  },
})
