/** What git servers cost this host: a pack that inflates to very much, very many branches, and a long history. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { claimOf } from '../../../plugins/codehost/test/claim.ts'
import { check, createContext, outcome, setUp } from '../../../plugins/codehost/test/context.ts'
import { writeBomb, writeBranches, writeLongHistory } from '../../../test/destinations/git-history.ts'
import { type GitRepository, GitServer } from '../../../test/destinations/git-server.ts'
import { watchGit } from '../../../test/support/git-memory.ts'
import type { Figure } from '../figure.ts'
import { median, timed } from '../statistics.ts'

const MIB = 1024 * 1024
/** What nearly fits into the limit, and what does not. */
const LARGEST_COPIES = 28
const BOMB_COPIES = 80
const LIMIT = { atMost: 512 }
const REFS = 215_000
const ROUNDS = 5
// What was made for the measurement is garbage first.
const WARM_UP_ROUNDS = 1
const COMMITS = 300_000
/** What the service gives a check by default. */
const CHECK_MS = 10_000
const MAX_CHECKS = 50
const INVENTED = 'f'.repeat(40)
const TARGET = 'acme/app'

interface Scene {
  readonly repository: GitRepository
  /** Where the plugin has its files. */
  readonly folder: string
  look(sha: string): Promise<string>
}

export async function measureGit(): Promise<Figure[]> {
  return [
    ...(await withServer((scene) => measureBomb(scene, LARGEST_COPIES))),
    ...(await withServer((scene) => measureBomb(scene, BOMB_COPIES))),
    ...(await withServer(measureRefs)),
    ...(await withServer(measureHistory)),
  ]
}

async function measureBomb({ repository, folder, look }: Scene, copies: number): Promise<Figure[]> {
  const { sha, packBytes } = await writeBomb(repository.folder, copies)
  await repository.push('main', sha)
  const { result, taken } = await watchGit(folder, () => look(INVENTED))
  if (copies === BOMB_COPIES) expect(result, 'unexpected_response')
  const given = `given ${Math.round(packBytes / 1000)} kB that inflate to ${copies * 16} MiB`
  return [
    { name: `memory that a process of git holds, ${given}`, value: taken.one / MIB, unit: 'MiB', bar: LIMIT },
    { name: `memory that its processes hold together, ${given}`, value: taken.together / MIB, unit: 'MiB' },
  ]
}

async function measureRefs({ repository, look }: Scene): Promise<Figure[]> {
  const base = await repository.commit()
  const tip = await repository.commit({ parents: [base] })
  await writeBranches(repository.folder, REFS, tip)
  await repository.push('main', base)
  const stallsMs: number[] = []
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    expect(await look(tip), 'differs: branch')
    expect(await look(INVENTED), 'absent')
    delay.disable()
    if (round >= 0) stallsMs.push(delay.max / 1e6)
  }
  const name = `longest stall of the main thread in two checks, ${REFS.toLocaleString('en-US')} branches`
  return [{ name, value: median(stallsMs), unit: 'ms', bar: { atMost: 50 } }]
}

async function measureHistory({ repository, look }: Scene): Promise<Figure[]> {
  const { threeMergesBack } = await writeLongHistory(repository.folder, COMMITS)
  const foundMs = await timed(async () => expect(await look(threeMergesBack), 'as claimed'))
  let checks = 0
  for (let result = ''; result !== 'absent'; ) {
    if (++checks > MAX_CHECKS) throw new Error('the end of the history is never reached')
    result = await look(INVENTED)
    if (result !== 'absent') expect(result, 'timeout')
  }
  const of = `in ${COMMITS.toLocaleString('en-US')} commits`
  return [
    { name: `a commit three merges back ${of}, found`, value: foundMs / 1000, unit: 's', bar: { atMost: 10 } },
    { name: `checks until a commit is not there ${of}`, value: checks, unit: '' },
  ]
}

async function withServer<T>(work: (scene: Scene) => Promise<T>): Promise<T> {
  const server = await GitServer.start()
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-bench-'))
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  const { verifier, close } = await setUp()
  try {
    const repository = await server.createRepository(TARGET)
    const connection = { id: 'conn_1', provider: 'git', options: { base_url: server.url } }
    const look = (sha: string) => {
      const claim = claimOf({ sha, branch: 'main', target: TARGET, claimedAt: Date.now() })
      return outcome(check(verifier, claim, createContext({ connection, timeoutMs: CHECK_MS })))
    }
    return await work({ repository, folder, look })
  } finally {
    await close()
    await server.close()
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    await rm(folder, { recursive: true, force: true })
  }
}

function expect(result: string, expected: string): void {
  if (result !== expected) throw new Error(`${result}, not ${expected}`)
}
