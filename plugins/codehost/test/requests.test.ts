/** How many requests a check costs its destination. */
import t from 'tap'
import { createCache } from './context.ts'
import { atGitServer } from './git-fixture.ts'
import { appearedAt, atGitHub, MINUTE, NOON } from './github-fixture.ts'

const inTime = () => NOON + MINUTE

t.test('a commit that is seen in time takes at most three requests to GitHub', async (t) => {
  const { github, repository, base, first, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await push('main', sha, NOON)
  for (const [id, expected] of [
    [sha, 2],
    [first, 3],
  ] as const) {
    const before = github.requests.length
    const seen = await look(id, { now: inTime })
    t.match(seen, { kind: 'present', differs: [], facts: { head: sha } })
    t.equal(appearedAt(seen), null, 'the time of the push is not requested, because the check itself is in time')
    t.equal(github.requests.length - before, expected)
  }
})

t.test('from the end of the tolerance on, the push log is read: it can show that the push was in time', async (t) => {
  const { github, base, look } = await atGitHub(t)
  for (const [at, expected] of [
    [NOON + 10 * MINUTE - 1, 0],
    [NOON + 10 * MINUTE, 1],
  ] as const) {
    const before = github.requests.length
    t.match(await look(base, { now: () => at }), { kind: 'present', differs: [] })
    t.equal(github.requests.slice(before).filter((line) => line.includes('/activity')).length, expected)
  }
})

t.test("a branch's tip takes three requests to a git server", async (t) => {
  const { server, base, look } = await atGitServer(t)
  t.match(await look(base), { kind: 'present', differs: [] })
  t.equal(server.requests.length, 3)
})

t.test('claims that wait for the same branch share one read, and each needs one comparison', async (t) => {
  const { github, repository, base, push, look } = await atGitHub(t)
  const commits = [base]
  for (let i = 1; i < 40; i++) commits.push(await repository.commit({ parents: [commits.at(-1)!] }))
  await push('main', commits.at(-1)!, NOON)
  const cache = createCache()
  const seen = await Promise.all(commits.map((sha) => look(sha, { cache, now: inTime })))
  for (const observation of seen) t.match(observation, { kind: 'present', differs: [] })
  t.equal(github.requests.length, 2 + 2 + 39)
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
  t.equal(github.requests.length, 2 * 2)
})
