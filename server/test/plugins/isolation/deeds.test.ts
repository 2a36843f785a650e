// Test run: end-to-end, slow, every-node
/** What a plugin in a process of its own can do, and what comes of it. Threat P1 of `security.md`. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t from 'tap'
import { startDeeds, TOKEN } from './world.ts'

const skip = (await isolationProblem()) ?? false
const PAGE = { kind: 'present', differs: [], facts: { status: 200 } }
const MISSING = { kind: 'absent', facts: { status: 404 } }
const told = (text: string | RegExp) => ({ facts: { told: text } })

// What ends the process: the check that does it fails, and those beside it are made again.
// On a busy machine, a process that takes memory may loop first, and one that floods may run out of it.
const ENDING: readonly (readonly [deed: string, reason: RegExp])[] = [
  ['loops', /looped/],
  ['loops in microtasks', /looped/],
  ['loops in a timer', /looped/],
  ['loops in a getter', /looped/],
  ['exits', /exited/],
  ['aborts', /exited/],
  ['fills the heap', /exited|looped/],
  ['floods the log', /flooded|looped|exited/],
  ['floods the pipe', /flooded/],
  ['speaks another protocol', /flooded/],
  ['returns megabytes', /flooded/],
]

// This file has a process to itself.
t.jobs = 2
/** Of processes that are ended one after another the next one waits longer each time. */
const DEEDS_AT_A_PLUGIN = 3

for (let first = 0; first < ENDING.length; first += DEEDS_AT_A_PLUGIN) {
  const deeds = ENDING.slice(first, first + DEEDS_AT_A_PLUGIN)
  const title = `a check that ${deeds.map(([deed]) => deed).join(', or ')} costs only itself`
  t.test(title, { skip }, async (t) => {
    const { check, plugin, lines } = await startDeeds(t)
    for (const [deed, reason] of deeds) {
      // After several ends a cell waits longer and longer.
      const look = (target: string, done?: string) => check(target, done, undefined, undefined, `of ${deed}`)
      const before = plugin.parts.state().restarts
      const checks = [look('page', deed), look('page'), look('missing'), look('page')]
      t.strictSame(await Promise.all(checks), ['PluginEndedError', PAGE, MISSING, PAGE], deed)
      const { restarts, lastEnd } = plugin.parts.state()
      t.match(lastEnd, reason, deed)
      // All of them together, and then the one that does it alone.
      const ends = lines.flatMap(({ fields: { reason } }) => (reason === undefined ? [] : [reason])).slice(before)
      t.equal(restarts - before, 2, `${deed}: ${ends.join(', ')}`)
      t.strictSame(await look('page'), PAGE, 'and the process works again')
    }
  })
}

t.test('a check that fills buffers costs only itself', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const checks = [check('page', 'fills buffers'), check('page'), check('missing'), check('page')]
  const [filling, ...others] = await Promise.all(checks)
  t.equal(filling, 'PluginEndedError')
  t.strictSame(others, [PAGE, MISSING, PAGE])
  t.strictSame(await check('page'), PAGE, 'and the process works again')
})

t.test('a workspace whose claims end its process each time holds up itself alone', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  const other = () => check('page', undefined, undefined, undefined, 'wsp_2')
  t.strictSame(await other(), PAGE)
  const deeds = ['exits', 'exits', 'exits', undefined]
  const own = Promise.all(deeds.map((deed) => check('page', deed)))
  let isOver = false
  own.finally(() => {
    isOver = true
  })
  let longestMs = 0
  while (!isOver) {
    const before = performance.now()
    t.strictSame(await other(), PAGE)
    longestMs = Math.max(longestMs, performance.now() - before)
  }
  t.strictSame(await own, ['PluginEndedError', 'PluginEndedError', 'PluginEndedError', PAGE])
  t.equal(plugin.parts.state().restarts, 4, 'once together, and then each alone')
  t.ok(longestMs < 2000, `${longestMs} ms`)
})

// What does not end it.
const HARMLESS = ['rejects without a listener', 'breaks a stream', 'throws in a timer']

t.test('stray errors are logged, and end nothing', { skip }, async (t) => {
  const { check, plugin, lines } = await startDeeds(t)
  for (const deed of HARMLESS) t.match(await check('page', deed), { kind: 'present' }, deed)
  t.strictSame(await check('page'), PAGE)
  t.match(plugin.parts.state(), { status: 'running', restarts: 0 })
  t.match(
    lines.map(({ fields }) => JSON.stringify(fields)),
    [/nobody listens/, /a broken stream/, /in a timer/],
  )
})

t.test('escape sequences of a plugin reach no log', { skip }, async (t) => {
  const { check, plugin, lines } = await startDeeds(t)
  t.match(await check('page', 'writes escape sequences to the log'), { kind: 'present' })
  t.equal(await check('page', 'dies with escape sequences'), 'PluginEndedError')
  t.match(plugin.parts.state(), { restarts: 2 })
  const logged = lines.map(({ fields, text }) => ({ ...fields, text }))
  t.match(logged, [
    {
      plugin_fields: { '<U+001B>[2J': ['<U+009B>2J'], err: /<U\+001B>\[1A<U\+202E>/ },
      text: '<U+001B>]0;title<U+0007>a line<U+000D>',
    },
    { stderr: '<U+001B>[2Jdead' },
    { stderr: '<U+001B>[2Jdead' },
  ])
  // Of a list, a line ends in JSON as \n.
  t.notMatch(JSON.stringify(logged), /\\u00|\\r|[\u007f-\u009f\u202e]/)
})

t.test('what a plugin replaces, it replaces for itself', { skip }, async (t) => {
  const liar = await startDeeds(t)
  const honest = await startDeeds(t)
  t.match(await liar.check('page', 'replaces JSON.parse'), { kind: 'present' })
  t.strictSame(await honest.check('missing'), MISSING)
})

t.test('a plugin reaches nothing beside the host', { skip }, async (t) => {
  const { check, folder, url } = await startDeeds(t)
  mkdirSync(join(folder, 'data'), { recursive: true })
  const key = join(folder, 'data/secret.key')
  writeFileSync(key, 'a key')
  const socket = join(folder, 'socket')
  const server = createServer().listen(socket)
  await once(server, 'listening')
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => Promise.all([server.close(), listener.close()]))
  const { port } = listener.address() as AddressInfo
  const rows: readonly (readonly [deed: string, at: string | undefined, told: RegExp])[] = [
    ['reads its environment', undefined, /^\{\}$/],
    ['reads a file', key, /^ERR_ACCESS_DENIED$/],
    ['reads a file', '/etc/passwd', /^ERR_ACCESS_DENIED$/],
    ['reads a file', '/proc/self/environ', /^ERR_ACCESS_DENIED$/],
    ['lists the root', undefined, /^(?!.*\b(?:etc|var|boot)\b)/],
    ['starts a program', undefined, /^ERR_ACCESS_DENIED$/],
    ['starts a worker', undefined, /^ERR_ACCESS_DENIED$/],
    // From Node 25 on its permission model stands before the network namespace.
    ['opens a connection', String(port), /^(ENETUNREACH|ERR_ACCESS_DENIED)$/],
    ['opens a connection', new URL(url).port, /^(ENETUNREACH|ERR_ACCESS_DENIED)$/],
    ['opens a Unix socket', socket, /^(ENOENT|ERR_ACCESS_DENIED)$/],
    ['signals a process', String(process.pid), /acts on no process/],
    ['slows a process', String(process.pid), /acts on no process/],
    ['reveals a credential', undefined, /holds no credentials/],
    ['tells its token', undefined, /^secret:token$/],
  ]
  for (const [deed, at, expected] of rows) t.match(await check('page', deed, at), told(expected), `${deed} ${at ?? ''}`)
  t.match(await check('page', 'asks another host'), told(/^unavailable$/))
})

t.test('the first process of its own space ignores its own signals', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  t.equal(await check('page', 'kills itself', undefined, 500), 'Error')
  t.strictSame(await check('page'), PAGE)
})

t.test('a check whose time is over is aborted, and its process goes on', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  t.equal(await check('page', 'waits for ever', undefined, 300), 'Error')
  t.strictSame(await check('page'), PAGE)
  t.match(plugin.parts.state(), { restarts: 0 })
})

t.test('what a destination repeats of a credential reaches the plugin encoded, and no receipt', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const seen = (await check('page', 'tells what it sent')) as { facts: { told: string } }
  t.equal(Buffer.from(seen.facts.told, 'base64').toString(), `Bearer ${TOKEN}`, 'which is why facts are searched')
})

t.test('a process that has much to do at once does not loop', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  const outcomes = await Promise.all(Array.from({ length: 80 }, () => check('page', 'computes', '20')))
  t.strictSame([...new Set(outcomes.map((seen) => JSON.stringify(seen)))], [JSON.stringify({ ...PAGE, facts: {} })])
  t.match(plugin.parts.state(), { restarts: 0 })
})

t.test('a hundred checks at once are all answered right', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const checks = Array.from({ length: 100 }, (_, index) => check(index % 3 === 0 ? 'missing' : 'page'))
  t.strictSame(
    await Promise.all(checks),
    checks.map((_, index) => (index % 3 === 0 ? MISSING : PAGE)),
  )
})
