/** What a plugin logs: bounded, in its own name, and without the secrets that it saw. Threat D5 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import { leakFinder } from '@claimcheck/server/outbound/leaks'
import { createPluginLogger } from '@claimcheck/server/plugins/plugin-logger'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)

function recorded() {
  const lines: [level: string, fields: Record<string, unknown>, text: string][] = []
  const at = (level: string) => (fields: object, text: string) => void lines.push([level, { ...fields }, text])
  let now = NOON
  const host = { info: at('info'), warn: at('warn') }
  const logger = createPluginLogger({ logger: host, now: () => now })
  return {
    lines,
    logger,
    pass(ms: number) {
      now += ms
    },
  }
}

t.test('a line keeps its level, its fields and its text', async (t) => {
  const { lines, logger } = recorded()
  const fields = { count: 3, isDone: true, nothing: null, list: ['a', { b: 'c' }] }
  logger.info(fields, 'a line')
  logger.warn({}, 'another')
  t.strictSame(lines, [
    ['info', fields, 'a line'],
    ['warn', {}, 'another'],
  ])
})

t.test('a secret that the plugin saw in one check is not in what it logs in another, at any depth', async (t) => {
  const { lines, logger } = recorded()
  logger.conceal(leakFinder(['s3cret-token']))
  logger.conceal(leakFinder(['another-secret']))
  const coded = Buffer.from('a s3cret-token').toString('base64')
  const err = new Error('s3cret-token')
  logger.warn({ a: [{ b: 'x another-secret' }], err, 's3cret-token': coded }, 'the s3cret-token is out')
  const [[, fields, text]] = lines as [(typeof lines)[number]]
  t.equal(text, 'the [secret] is out')
  t.match(fields, { a: [{ b: 'x [secret]' }], err: /^Error: \[secret\]/ })
  t.notMatch(JSON.stringify(lines), /s3cret|another-secret/)
  t.notOk(JSON.stringify(lines).includes(coded.slice(4, -4)))
})

t.test('a line for each of a thousand connections costs little, and has none of their secrets', async (t) => {
  const { lines, logger, pass } = recorded()
  const secrets = Array.from({ length: 1000 }, (_, at) => `s3cret-token-${at}-of-a-connection`)
  const finders = secrets.map((secret) => leakFinder([secret]))
  const before = process.cpuUsage()
  for (const [at, finder] of finders.entries()) {
    logger.conceal(finder)
    logger.info({}, `${secrets[at]} ${secrets[at >> 1]}`)
    pass(1000)
  }
  const { user } = process.cpuUsage(before)
  t.ok(lines.every(([, , text]) => text === '[secret] [secret]'))
  t.ok(user < 5_000_000, `${user / 1000} ms`)
})

t.test("a plugin does not speak for others: the host's members of a line are not its", async (t) => {
  const { lines, logger } = recorded()
  logger.info({ plugin: 'codehost', level: 60, time: 0, msg: 'x', pid: 1, mine: 2 }, 'a line')
  t.strictSame(lines, [['info', { mine: 2 }, 'a line']])
})

const round: Record<string, unknown> = { name: 'round' }
round.itself = round
const odd: [what: string, fields: unknown, text: unknown][] = [
  ['a circle', round, 'x'],
  [
    'a getter that throws',
    {
      get a() {
        throw new Error('no')
      },
    },
    'x',
  ],
  ['a function', { a: () => {} }, 'x'],
  ['no fields', undefined, 'x'],
  ['text for fields', 'fields', 'x'],
  ['no text', {}, undefined],
  ['an object for text', {}, Object.create(null)],
  ['a large number', { a: 2n ** 80n }, 'x'],
  ['a name that is special', JSON.parse('{"__proto__":{"a":1}}'), 'x'],
  ['many fields', Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, n])), 'x'],
  [
    'long texts',
    { a: 'a'.repeat(10_000), b: 'b'.repeat(1_000_000), c: Array(1000).fill('c'.repeat(1000)) },
    'x'.repeat(5000),
  ],
  ['deep fields', JSON.parse(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`), 'x'],
]
for (const [what, fields, text] of odd) {
  t.test(`${what} is logged in a bounded line, or not at all`, async (t) => {
    const { lines, logger } = recorded()
    logger.warn(fields as Record<string, unknown>, text as string)
    t.equal(lines.length, 1)
    t.ok(JSON.stringify(lines).length < 8192, `${JSON.stringify(lines).length} characters`)
  })
}

t.test('a line that was cut says so', async (t) => {
  const { lines, logger } = recorded()
  logger.warn({ a: 'a'.repeat(10_000) }, 'x')
  t.match(lines, [['warn', { cut: true }, 'x']])
})

t.test('of a second a hundred lines are kept, and the next line tells how many were not', async (t) => {
  const { lines, logger, pass } = recorded()
  for (let line = 0; line < 250; line++) logger.info({}, `line ${line}`)
  t.equal(lines.length, 100)
  pass(1000)
  logger.info({}, 'the next')
  t.strictSame(lines.slice(100), [
    ['warn', { dropped: 150 }, 'the plugin logged more lines than are kept'],
    ['info', {}, 'the next'],
  ])
})

t.test('it is told also when the plugin falls silent', async (t) => {
  const { lines, logger } = recorded()
  for (let line = 0; line < 101; line++) logger.info({}, 'a line')
  await setTimeout(1200)
  t.strictSame(lines.slice(100), [['warn', { dropped: 1 }, 'the plugin logged more lines than are kept']])
})
