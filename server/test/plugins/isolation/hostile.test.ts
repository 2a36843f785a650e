// Test run: end-to-end, slow
/** What a process says that is written to harm its host, and not by mistake. Threat P4 of `security.md`. */
import { createHash, createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t from 'tap'
import { IS_THOROUGH } from '../../../../test/support/extent.ts'
import { HOOK, LARGE_BYTES, startDeeds } from './world.ts'

const skip = (await isolationProblem()) ?? false
const PAGE = { kind: 'present', differs: [], facts: { status: 200 } }
/** JSON for an object that becomes neither number nor text: the attempt throws. */
const ODD = '{"valueOf":1,"toString":1}'

const LINES: readonly (readonly [what: string, line: string])[] = [
  ['is at no number', `{"k":"at","n":${ODD}}`],
  ['is at a message to come', '{"k":"at","n":1000000}'],
  ['is at a number below all', '{"k":"at","n":-1}'],
  ['is idle at no number', `{"k":"idle","n":${ODD}}`],
  ['is idle for ever', '{"k":"idle","n":9007199254740991}'],
  ['logs no text', `{"k":"log","level":"info","fields":{},"text":${ODD}}`],
  ['calls no function', `{"k":"call","id":1,"run":1,"method":${ODD},"args":[]}`],
  ['calls without arguments', '{"k":"call","id":1,"run":1,"method":"fetch"}'],
  ['calls for no run', `{"k":"call","id":1,"run":${ODD},"method":"fetch","args":[]}`],
  ['answers nothing', '{"k":"ok"}'],
  ['says null', 'null'],
  ['says a list', '[]'],
]

const stray: unknown[] = []
const listener = (error: unknown) => void stray.push(error)
process.on('uncaughtException', listener).on('unhandledRejection', listener)
t.teardown(() => process.off('uncaughtException', listener).off('unhandledRejection', listener))

/** Of processes that are ended one after another the next one waits longer each time. */
const LINES_AT_A_PLUGIN = 4

t.jobs = 3
for (let first = 0; first < LINES.length; first += LINES_AT_A_PLUGIN) {
  const lines = LINES.slice(first, first + LINES_AT_A_PLUGIN)
  const title = `a process that ${lines.map(([what]) => what).join(', or ')} is ended, and nothing of it reaches the host`
  t.test(title, { skip }, async (t) => {
    const { check, plugin } = await startDeeds(t)
    for (const [index, [what, line]] of lines.entries()) {
      // After several ends a cell waits longer and longer.
      const workspace = `wsp_${index}`
      const ended = await check('page', 'writes to its pipe', line, undefined, workspace)
      t.equal(ended, 'PluginEndedError', what)
      t.match(plugin.parts.state(), { restarts: 2 * (index + 1), lastEnd: 'it flooded the host' }, what)
      t.strictSame(await check('page', undefined, undefined, undefined, workspace), PAGE, what)
      t.strictSame(stray, [], what)
    }
  })
}

t.test(
  'processes of which each takes less of the host than one may are ended when all take more',
  { skip },
  async (t) => {
    const { check, plugin } = await startDeeds(t)
    for (let at = 0; at < 8; at++) {
      t.match(await check('page', 'sends nested messages for long', '30', undefined, `wsp_${at}`), { kind: 'present' })
    }
    await setTimeout(3000)
    const { lastEnd, restarts } = plugin.parts.state()
    t.equal(lastEnd, 'it flooded the host')
    t.ok(restarts >= 4, `${restarts} of 8 ended`)
  },
)

for (const deed of ['prints without end', 'sends nested messages']) {
  t.test(`a process that ${deed} is ended before it takes the host's time`, { skip }, async (t) => {
    const { check, plugin } = await startDeeds(t)
    const before = process.cpuUsage()
    t.match(await check('page', deed, undefined, 15_000), /PluginEndedError/)
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < 4_000_000, `${(user + system) / 1000} ms of processor time`)
    t.match(plugin.parts.state(), { lastEnd: 'it flooded the host' })
    t.strictSame(await check('page'), PAGE)
  })
}

t.test('no answer of a destination is too large for the process, whatever JSON makes of it', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  for (const [page, begin] of [
    ['controls', '\u0001\u0001\u0001'],
    ['quotes', '"""'],
    ['large', 'xxx'],
  ] as const) {
    t.match(await check('page', 'reads a body', page), { facts: { told: `${LARGE_BYTES} ${begin}` } }, page)
  }
  t.match(plugin.parts.state(), { restarts: 0 })
})

t.test('the host computes digests for a process, which gets nothing else of the content', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const digest = createHash('sha256').update(Buffer.alloc(LARGE_BYTES, 'x')).digest('base64')
  const told = `${LARGE_BYTES} ${digest} application/json`
  t.match(await check('page', 'computes a digest', 'large'), { facts: { told } })
  for (const deed of ['asks for a digest that there is not', 'asks for a digest in another form']) {
    t.match(await check('page', deed), { facts: { told: 'the plugin failed' } }, deed)
  }
})

t.test('the host spends a declared credential for a process, which never holds it', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  t.match(await check('page', 'spends a declared credential'), { facts: { told: '200 /secret:hook/page' } })
  for (const deed of ['puts a declared secret into a header', 'names a credential of another form']) {
    t.match(await check('page', deed), { facts: { told: 'the plugin failed' } }, deed)
  }
})

t.test('the host makes keyed fingerprints for a process, which never holds the key', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const mac = createHmac('sha256', HOOK).update('claimcheck.fingerprint:paid').digest('hex')
  t.match(await check('page', 'makes a fingerprint', 'paid'), { facts: { told: `hmac-sha256:${mac}` } })
  t.match(await check('page', 'makes fingerprints of long texts'), { facts: { told: '76 too_large' } })
  t.match(await check('page', 'makes a fingerprint by another secret'), { facts: { told: 'the plugin failed' } })
})

t.test('a check may wait for so many calls at once', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  t.strictSame(await check('page', 'waits for many calls'), { ...PAGE, facts: { told: 'true' } })
  t.match(plugin.parts.state(), { restarts: 0 })
})

t.test('a plugin knows the time of the service', { skip }, async (t) => {
  const before = Date.now()
  const { check } = await startDeeds(t)
  const { facts } = (await check('page', 'tells the time')) as { facts: { told: string } }
  const time = Number(facts.told)
  // A message takes a while.
  t.ok(time >= before - 1000 && time <= Date.now() + 1000, `${time}`)
})

t.test('a plugin that is closed while it starts again leaves nothing that waits', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  t.equal(await check('page', 'exits'), 'PluginEndedError')
  const waiting = [check('page'), check('missing')]
  const before = performance.now()
  await plugin.parts.close()
  t.strictSame(await Promise.all(waiting), ['Error', 'Error'])
  t.equal(await check('page'), 'Error')
  t.ok(performance.now() - before < 5000)
  t.match(plugin.parts.state(), { status: 'stopped' })
})

t.test('a check whose time was over before it began is not given to the plugin', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const before = performance.now()
  t.equal(await check('page', 'waits for ever', undefined, 0), 'Error')
  t.ok(performance.now() - before < 5000)
})

const LATER = IS_THOROUGH ? 3 : 1

t.test('no check fails for what others, submitted later, do to the process', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  const culprit = check('page', 'loops in a timer')
  const slow = ['300', '400', '500'].map((ms) => check('page', 'waits a while', ms))
  // While the innocent are made again, more of the kind come.
  const later: Promise<unknown>[] = []
  const timer = setInterval(() => later.length < LATER && later.push(check('page', 'loops in a timer')), 700)
  t.teardown(() => clearInterval(timer))
  const outcomes = await Promise.all(slow)
  clearInterval(timer)
  t.notOk(outcomes.includes('PluginEndedError'), JSON.stringify(outcomes))
  t.equal(await culprit, 'PluginEndedError')
  t.ok(plugin.parts.state().restarts >= 2)
  await Promise.all(later)
})

t.test('a check that is made again may ask as much as one that was not', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  const asking = check('page', 'asks as often as it may')
  await check('page', 'waits a while', '200')
  t.equal(await check('page', 'exits'), 'PluginEndedError')
  t.strictSame(await asking, { ...PAGE, facts: {} })
})

const FLOOD_MS = IS_THOROUGH ? 3000 : 1000

t.test('a plugin that gets as many checks as it can make floods nobody', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  const end = performance.now() + FLOOD_MS
  const outcomes = new Set<unknown>()
  const one = async () => {
    while (performance.now() < end) outcomes.add(JSON.stringify(await check('page', 'waits a while', '0')))
  }
  await Promise.all(Array.from({ length: 200 }, one))
  t.strictSame([...outcomes], [JSON.stringify({ ...PAGE, facts: {} })])
  t.match(plugin.parts.state(), { restarts: 0 })
})
