/** The GitHub stand-in keeps its history in memory, and does git's work itself: over random histories it has to say what git says. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { git } from './git.ts'
import { GitHubStandIn } from './github.ts'
import { Network } from './github-network.ts'
import { initBare, writeCommit, writeRef } from './objects.ts'

const HISTORIES = 40
const COMMITS = 25
const PAIRS = 5
const NOON = Date.UTC(2026, 8, 25, 12)

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

/** When commits were made, in seconds. An author's clock may be wrong. */
const CLOCKS: readonly (readonly [what: string, at: (index: number, pick: (below: number) => number) => number])[] = [
  ['one after another', (index) => index],
  ['some in the same second', (index) => Math.floor(index / 3)],
  ['by clocks that are wrong', (_, pick) => pick(1_000_000)],
]

/** Roots, lines, merges of two or three, and the criss-crosses that come of them: in memory and as git has it. */
async function history(folder: string, seed: number, at: (typeof CLOCKS)[number][1]) {
  const pick = random(seed)
  const network = new Network()
  const shas: string[] = []
  await initBare(folder)
  for (let index = 0; index < COMMITS; index++) {
    const recent = shas.slice(-6)
    const count = pick(12) === 0 ? 0 : [1, 1, 2, 2, 3][pick(5)]!
    const parents = [...new Set(Array.from({ length: count }, () => recent[pick(recent.length)]))].filter(
      (sha) => sha !== undefined,
    )
    const options = { parents, message: `Change ${index}`, date: new Date(NOON + at(index, pick) * 1000) }
    const sha = network.commit(options)
    if ((await writeCommit(folder, options)) !== sha) throw new Error('the same commit has two ids')
    shas.push(sha)
  }
  const pairs = Array.from({ length: PAIRS }, () => [shas[pick(COMMITS)]!, shas[pick(COMMITS)]!] as const)
  return { network, pairs }
}

const lines = (text: string) => text.split('\n').filter(Boolean)

for (const [what, at] of CLOCKS) {
  t.test(`the stand-in compares as git does, where commits were made ${what}`, async (t) => {
    const root = t.testdir()
    const counts = { merged: 0, several: 0, unrelated: 0, diverged: 0 }
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const folder = join(root, String(seed))
      const { network, pairs } = await history(folder, seed, at)
      for (const [base, head] of pairs) {
        const bases = lines(await git(folder, ['merge-base', '--all', base, head]).catch(() => ''))
        const found = network.mergeBase(base, head)
        // Of several that are as good, git prints the newest first.
        t.equal(found, bases[0], `merge base of ${base} and ${head} in history ${seed}`)
        const [ahead, behind] = [network.between(base, head), network.between(head, base)]
        t.strictSame(
          ahead.map(({ sha }) => sha),
          lines(await git(folder, ['rev-list', '--reverse', `${base}..${head}`])),
        )
        const told = await git(folder, ['rev-list', '--left-right', '--count', `${base}...${head}`])
        t.equal(`${behind.length}\t${ahead.length}`, told)
        if (bases.length > 1) counts.several++
        if (bases.length === 0) counts.unrelated++
        if (ahead.some(({ parents }) => parents.length > 1)) counts.merged++
        if (ahead.length > 0 && behind.length > 0) counts.diverged++
      }
      await rm(folder, { recursive: true })
    }
    for (const [kind, count] of Object.entries(counts)) t.ok(count > 2, `${kind}: ${count}`)
  })
}

t.test('a branch whose name is a folder of another is refused, by the stand-in and in repositories', async (t) => {
  const root = t.testdir()
  const standIn = await GitHubStandIn.start()
  t.teardown(() => standIn.close())
  const rows: readonly (readonly [there: string, pushed: string, isRefused: boolean])[] = [
    ['a', 'a/b', true],
    ['a/b', 'a', true],
    ['a/b/c', 'a', true],
    ['a', 'ab', false],
    ['a/b', 'a/c', false],
  ]
  for (const [index, [there, pushed, isRefused]] of rows.entries()) {
    const repository = await standIn.createRepository(`acme/app-${index}`)
    const sha = await repository.commit()
    await repository.push(there, sha)
    const folder = join(root, String(index))
    await initBare(folder)
    const written = await writeCommit(folder)
    await writeRef(folder, `refs/heads/${there}`, written)
    const attempts = {
      standIn: () => repository.push(pushed, sha),
      written: () => writeRef(folder, `refs/heads/${pushed}`, written),
      git: () => git(folder, ['update-ref', `refs/heads/${pushed}`, written]),
    }
    for (const [name, attempt] of Object.entries(attempts)) {
      const outcome = await attempt().then(
        () => false,
        () => true,
      )
      t.equal(outcome, isRefused, `${name}: ${pushed} beside ${there}`)
    }
    if (!isRefused) continue
    await repository.deleteBranch(there)
    await repository.push(pushed, sha)
    await git(folder, ['update-ref', '-d', `refs/heads/${there}`])
    await writeRef(folder, `refs/heads/${pushed}`, written)
    t.equal(await git(folder, ['rev-parse', pushed]), written, 'once the other is gone, it can be pushed')
  }
})
