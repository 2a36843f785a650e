// Test run: end-to-end, slow
/** What a git server can make this host spend: memory, time, places and the main thread. Threat D3 of `security.md`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { silence } from '../../../test/destinations/faults.ts'
import { writeBomb, writeBranches } from '../../../test/destinations/git-history.ts'
import { watchGit } from '../../../test/support/git-memory.ts'
import { LONGEST_STALL_MS, measureStalls, watchStalls } from '../../../test/support/stalls.ts'
import { claimOf } from './claim.ts'
import { check, createContext, outcome, setUp } from './context.ts'
import { atGitServer, temporaryFolder } from './git-fixture.ts'
import type { ManyBranches } from './many-branches.ts'

const MIB = 1024 * 1024
const MEMORY_MIB = 256
const INVENTED = 'f'.repeat(40)
const POST = /POST .*git-upload-pack/

t.test('a pack of some kilobytes that inflates to more than the memory is an unexpected response', async (t) => {
  const { repository, base, connect, look, folder, leftBehind } = await atGitServer(t, { git_memory_mib: MEMORY_MIB })
  // A commit, which a server sends whatever the filter asks.
  const bomb = await writeBomb(repository.folder, 17)
  t.ok(bomb.packBytes < 20_000, `${bomb.packBytes} bytes`)
  await repository.push('main', bomb.sha)
  const { result, taken } = await watchGit(folder, () => outcome(look(base)))
  t.equal(result, 'unexpected_response')
  t.ok(taken.reserved > 0 && taken.reserved <= MEMORY_MIB * MIB, `${taken.reserved} bytes reserved by one process`)
  t.ok(taken.together <= MEMORY_MIB * MIB, `${taken.together} bytes held together`)

  await repository.push('main', base)
  const held = await look(bomb.sha, { connection: { ...connect(), id: 'conn_2' } })
  t.match(held, { kind: 'absent', mark: 'may_have_been' }, 'the server gives it out, so it has it')
  t.equal(await outcome(look(base)), 'as claimed', 'then the branch can be read')
  t.same(await leftBehind(), [])
})

t.test('a listing of very many branches holds up nothing else', async (t) => {
  const server = fork(new URL('many-branches.js', import.meta.url))
  t.teardown(() => server.disconnect())
  const [{ url, tip }] = (await once(server, 'message')) as [ManyBranches]
  const { verifier, close } = await setUp()
  t.teardown(close)
  await temporaryFolder(t)
  const stalls = watchStalls()
  t.teardown(() => stalls.stop())
  let copies = 0
  const measured = await measureStalls(async () => {
    // Nothing is kept for this one.
    const connection = { id: `conn_${copies++}`, provider: 'git', options: { base_url: url } }
    const look = (sha: string) =>
      check(
        verifier,
        claimOf({ sha, branch: 'main', target: 'acme/app', claimedAt: Date.now() }),
        createContext({ connection }),
      )
    stalls.reset()
    const found = await look(tip)
    const absent = await look(INVENTED)
    const longestMs = stalls.longestMs()
    t.match(found, { differs: ['branch'], facts: { found_on: 'many-0000000' } })
    t.match(absent, { kind: 'absent', mark: 'never_before' })
    return { longestMs }
  })
  t.ok(measured.at(-1)!.longestMs < LONGEST_STALL_MS, measured.map(({ longestMs }) => `${longestMs} ms`).join(', '))
})

t.test('a listing of more branches than are read is an unexpected response', async (t) => {
  const { repository, base, look } = await atGitServer(t)
  await writeBranches(repository.folder, 500_001, base)
  await repository.push('main', base)
  t.equal(await outcome(look(base)), 'as claimed', 'for the claimed branch no listing is needed')
  t.equal(await outcome(look(INVENTED)), 'unexpected_response')
})

t.test('git works a bounded number of times at a time, and no workspace takes all places', async (t) => {
  const { server, base, connect, look, folder } = await atGitServer(t, { git_processes: 4 })
  server.faults.inject({ fault: silence(), on: POST, during: () => isSilent })
  let isSilent = true
  const ending = new AbortController()
  const { signal } = ending
  const flood = Array.from({ length: 12 }, (_, i) =>
    outcome(look(base, { share: 'ws_loud', connection: { ...connect(), id: `loud_${i}` }, signal })),
  )
  await setTimeout(1000)
  isSilent = false
  const { result, taken } = await watchGit(folder, () =>
    outcome(look(base, { share: 'ws_other', connection: { ...connect(), id: 'other' } })),
  )
  t.equal(result, 'as claimed', 'while another workspace waits')
  // A busy machine may not have begun all that may run.
  t.ok(taken.runs >= 2 && taken.runs <= 4, `${taken.runs} runs at a time`)
  ending.abort()
  const outcomes = await Promise.all(flood)
  t.ok(
    outcomes.every((one) => one === 'timeout' || one === 'as claimed'),
    `${outcomes}`,
  )
})
