/** What a plugin makes the host spend, and what it costs others. Threat P4 of `security.md`. */

import { MAX_CHECK_BYTES } from '@claimcheck/core/plugin'
import { isolationProblem } from '@claimcheck/server/plugins/isolation/problems'
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
