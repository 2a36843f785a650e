// Test run: end-to-end, slow
/** What a plugin makes the host spend, and what it costs others. Threat P4 of `security.md`. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { MAX_CHECK_BYTES } from '@claimcheck/core/hosting'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { treeTime } from '@claimcheck/server/plugins/isolation/process-usage'
import { createProcessorBudget } from '@claimcheck/server/plugins/isolation/processor-budget'
import t from 'tap'
import { LARGE_BYTES, startDeeds } from './world.ts'

const skip = (await isolationProblem()) ?? false
const PAGE = { kind: 'present', differs: [], facts: { status: 200 } }
const told = (text: string) => ({ facts: { told: text } })

t.test('checks that read all that they may leave the host to others', { skip }, async (t) => {
  const greedy = await startDeeds(t)
  const other = await startDeeds(t)
  const before = process.cpuUsage()
  const reading = Promise.all(['one', 'another'].map((target) => greedy.check(target, 'reads as much as it may')))
  t.strictSame(await other.check('page'), PAGE)
  t.strictSame(await reading, ['DestinationError too_large', 'DestinationError too_large'])
  // With the destination's own, which is in this process.
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 4_000_000, `${(user + system) / 1000} ms of processor time`)
  t.ok(greedy.largeAnswers() <= 2 * Math.ceil(MAX_CHECK_BYTES / LARGE_BYTES), `${greedy.largeAnswers()} answers`)
})

t.test('a check that is made again has no more to read than before', { skip }, async (t) => {
  const { check, largeAnswers } = await startDeeds(t)
  const reading = check('page', 'reads as much as it may')
  while (largeAnswers() < 3) await new Promise(setImmediate)
  t.equal(await check('page', 'exits'), 'PluginEndedError')
  t.equal(await reading, 'DestinationError too_large')
  t.ok(largeAnswers() <= Math.ceil(MAX_CHECK_BYTES / LARGE_BYTES) + 1, `${largeAnswers()} answers`)
})

t.test('what a plugin does not read of an answer is not read for it', { skip }, async (t) => {
  const { check, plugin } = await startDeeds(t)
  // Many times what it may read.
  t.match(await check('page', 'reads many bodies at once'), told('60'))
  t.match(await check('page', 'reads a part of a body'), told('true'))
  t.match(plugin.parts.state(), { restarts: 0 })
})

t.test('a body that fails, fails for the plugin with the words of the contract', { skip }, async (t) => {
  const { check } = await startDeeds(t)
  t.match(await check('page', 'reads a body that ends too early'), told('unavailable'))
})

t.test(
  'a process that works while nothing is asked of it is ended, and waits before it is started again',
  {
    skip,
  },
  async (t) => {
    const { check, plugin } = await startDeeds(t)
    t.match(await check('page', 'burns while nothing is asked'), { kind: 'present' })
    const before = performance.now()
    // A busy machine gives it little of what it takes.
    while (plugin.parts.state().lastEnd === undefined && performance.now() - before < 120_000) await setTimeout(100)
    t.match(plugin.parts.state(), { lastEnd: 'it took too much processor time' })
    t.equal(await check('page', undefined, undefined, 500), 'Error')
  },
)

t.test('a process may take what its calls need, and little beside', async (t) => {
  let now = 0
  const budget = createProcessorBudget(() => now)
  const second = (spent: number, calls: number) => {
    now += 1000
    return budget.spend(spent, calls)
  }
  for (let count = 0; count < 100; count++) budget.begins()
  const repeated = (seconds: number, spent: number, calls: number) =>
    Array.from({ length: seconds }, () => second(spent, calls)).every((isRight) => isRight)
  t.ok(repeated(300, 1000, 100), 'a hundred calls at once')
  t.ok(repeated(1000, 40, 0), 'a little all the time')
  t.equal(budget.pauseMs(), 0)
  let seconds = 0
  while (second(1000, 1)) seconds++
  t.ok(seconds < 10, 'one call that never ends')
  const pause = budget.pauseMs()
  t.ok(pause > 10_000 && pause < 120_000, `${pause}`)
  now += pause
  t.equal(budget.pauseMs(), 0)
})

t.test('the time of a process is that of all that it started', async (t) => {
  const child = spawn('/bin/sh', ['-c', 'sleep 60 & (sh -c "while :; do :; done") & wait'], { detached: true })
  t.teardown(() => process.kill(-child.pid!, 'SIGKILL'))
  await once(child, 'spawn')
  const before = performance.now()
  while (treeTime(child.pid!) < 300 && performance.now() - before < 30_000) await setTimeout(100)
  t.ok(treeTime(child.pid!) >= 300)
})
