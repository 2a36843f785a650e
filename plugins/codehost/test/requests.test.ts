/** How many requests a check costs its destination. */
import t from 'tap'
import { createCache } from './context.ts'
import { atGitServer } from './git-fixture.ts'
import { appearedAt, atGitHub, MINUTE, NOON } from './github-fixture.ts'

const inTime = () => NOON + MINUTE

t.test('a commit that is seen in time takes three to six requests to GitHub', async (t) => {
  const { clock, github, repository, base, first, push, look } = await atGitHub(t)
  const middle = await repository.commit({ parents: [base] })
  const sha = await repository.commit({ parents: [middle] })
  await push('main', sha, NOON)
  clock.now = NOON + MINUTE
  const PUSHED_AT = '2026-09-25T12:00:00.000Z'
  for (const [id, expected, facts] of [
    [sha, 3, { pushed_at: PUSHED_AT }],
    [middle, 5, { pushed_at: PUSHED_AT }],
    [base, 4, { pushed_at: '2026-09-25T11:00:00.000Z', preexisting: true }],
    [first, 5, { preexisting: true }],
  ] as const) {
    const before = github.requests.length
    const seen = await look(id, { now: inTime })
    t.match(seen, { kind: 'present', differs: [], facts: { head: sha, ...facts } })
    t.equal(appearedAt(seen), null, 'seen in time, it came in time')
    t.equal(github.requests.length - before, expected, github.requests.slice(before).join('\n'))
  }
})

t.test('what the log adds to a commit that is seen in time takes three requests at most', async (t) => {
  const { clock, github, repository, base, push, look } = await atGitHub(t)
  const shas = [base]
  for (let i = 0; i < 12; i++) {
    shas.push(await repository.commit({ parents: [shas.at(-1)!] }))
    if (i % 2) await push('main', shas.at(-1)!, NOON - 5 * MINUTE + i * 10_000)
  }
  clock.now = NOON + MINUTE
  for (const sha of shas) {
    const before = github.requests.length
    t.match(await look(sha, { now: inTime }), { kind: 'present', differs: [] })
    t.ok(github.requests.length - before <= 3 + 3, sha)
  }
})

t.test(
  'from the end of the tolerance on, the push log tells the stay: it can show that the push was in time',
  async (t) => {
    const { base, look } = await atGitHub(t)
    t.notOk((await look(base, { now: () => NOON + 10 * MINUTE - 1 })).stays)
    t.equal((await look(base, { now: () => NOON + 10 * MINUTE })).stays?.length, 1)
  },
)

t.test("a branch's tip takes four requests to a git server, and three while it stays", async (t) => {
  const { server, base, look } = await atGitServer(t)
  for (const expected of [4, 3, 3]) {
    const before = server.requests.length
    t.match(await look(base), { kind: 'present', differs: [] })
    t.equal(server.requests.length - before, expected)
  }
})

t.test('claims that wait for the same branch share their reads, and each needs two comparisons', async (t) => {
  const { github, repository, base, push, look } = await atGitHub(t)
  const commits = [base]
  for (let i = 1; i < 40; i++) commits.push(await repository.commit({ parents: [commits.at(-1)!] }))
  await push('main', commits.at(-1)!, NOON)
  const cache = createCache()
  const seen = await Promise.all(commits.map((sha) => look(sha, { cache, now: inTime })))
  for (const observation of seen) t.match(observation, { kind: 'present', differs: [] })
  const of = (part: string) => github.requests.filter((line) => line.includes(part)).length
  t.equal(of('/git/ref/'), 2)
  t.ok(of('/activity') < commits.length / 2, `${of('/activity')} readings of the log`)
  t.ok(of('/compare/') <= 2 * 39, `${of('/compare/')} comparisons`)
})

t.test('claims that wait for the same branch of a git server share one read and one history', async (t) => {
  const { server, repository, base, look } = await atGitServer(t)
  const commits = [base]
  for (let i = 1; i < 40; i++) commits.push(await repository.commit({ parents: [commits.at(-1)!] }))
  await repository.push('main', commits.at(-1)!)
  const cache = createCache()
  const seen = await Promise.all(commits.map((sha) => look(sha, { cache })))
  for (const observation of seen) t.match(observation, { kind: 'present', differs: [] })
  t.ok(server.requests.length <= 4 * 3, `${server.requests.length} requests`)
})

t.test('claims about different branches do not share a read', async (t) => {
  const { github, base, first, push, look } = await atGitHub(t)
  await push('topic', first, NOON)
  const cache = createCache()
  await Promise.all([look(base, { cache, now: inTime }), look(first, { cache, now: inTime, branch: 'topic' })])
  t.equal(github.requests.length, 2 * 3)
})
