/** What a plugin makes the host spend, and what it costs others. Threat P4 of `security.md`. */
import { isolationProblem } from '@claimcheck/server/plugins/isolation/problems'
import t from 'tap'
import { startDeeds } from './world.ts'

const skip = (await isolationProblem()) ?? false
const PAGE = { kind: 'present', differs: [], facts: { status: 200 } }
const GREEDY_CHECKS = 6

t.test('checks that read all that they may leave the host to others', { skip }, async (t) => {
  const greedy = await startDeeds(t)
  const other = await startDeeds(t)
  t.strictSame(await other.check('page'), PAGE)
  const before = process.cpuUsage()
  const begun = performance.now()
  const reading = Promise.all(
    Array.from({ length: GREEDY_CHECKS }, () => greedy.check('page', 'reads as much as it may')),
  )
  let slowest = 0
  let isOver = false
  void reading.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const from = performance.now()
    t.strictSame(await other.check('page'), PAGE)
    slowest = Math.max(slowest, performance.now() - from)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const outcomes = await reading
  const { user, system } = process.cpuUsage(before)
  t.comment(`${(user + system) / 1000} ms of processor time in ${performance.now() - begun} ms; another plugin's check takes ${slowest} ms; ${outcomes}`)
})
