// Test run: end-to-end, slow
/** Long histories at a git server: fetched step by step, and kept between checks. */
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, symlink, utimes } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { silence } from '../../../test/destinations/faults.ts'
import { writeLongHistory } from '../../../test/destinations/git-history.ts'
import type { GitRepository, GitServer } from '../../../test/destinations/git-server.ts'
import { createCache, outcome } from './context.ts'
import { atGitServer } from './git-fixture.ts'

const COMMITS = 30_000
const CHECK_MS = 10_000
const INVENTED = 'f'.repeat(40)
const POST = /POST .*git-upload-pack/

/** Commits on top of each other, the oldest first. */
async function chain(repository: GitRepository, count: number, parent?: string): Promise<string[]> {
  const shas: string[] = []
  for (let last = parent; shas.length < count; ) {
    last = await repository.commit(last === undefined ? {} : { parents: [last] })
    shas.push(last)
  }
  return shas
}

async function requestsOf(server: GitServer, work: () => Promise<unknown>): Promise<string[]> {
  const start = server.requests.length
  await work()
  return server.requests.slice(start)
}

/** A server, and a repository with a history of two hundred commits, of which the first fetch brings a part. */
async function atLongBranch(t: Test, options = {}, pluginOptions = {}) {
  const at = await atGitServer(t, pluginOptions)
  const long = await at.server.createRepository('acme/long', options)
  const shas = await chain(long, 200)
  await long.push('main', shas.at(-1)!)
  const look: typeof at.look = (sha, given = {}) => at.look(sha, { target: 'acme/long', ...given })
  return { ...at, long, shas, root: shas[0]!, recent: shas.at(-20)!, tip: shas.at(-1)!, look }
}

t.test("in a long history a commit three merges back is found within a check's time", async (t) => {
  const { server, look, leftBehind } = await atGitServer(t)
  const large = await server.createRepository('acme/large')
  const { tip, root, threeMergesBack } = await writeLongHistory(large.folder, COMMITS)
  const lookAt = (sha: string) => look(sha, { target: 'acme/large', timeoutMs: CHECK_MS })
  t.match(await lookAt(threeMergesBack), { kind: 'present', differs: [], facts: { head: tip } })
  t.match(await lookAt(threeMergesBack), { kind: 'present', differs: [] })
  let checks = 0
  for (let result = ''; result !== 'absent' && checks < 10; checks++) {
    result = await outcome(lookAt(INVENTED))
    t.match(result, /^(?:absent|timeout)$/)
  }
  t.ok(checks < 10, `${checks} checks until it is not there`)
  t.equal(await outcome(lookAt(root)), 'as claimed')
  t.same(await leftBehind(), [])
})

t.test('only as much of a history is fetched as is needed, and each part once', async (t) => {
  const { server, look, recent, root, tip } = await atLongBranch(t)
  t.equal((await requestsOf(server, () => look(recent))).length, 4, 'the newest commits')
  t.equal((await requestsOf(server, () => look(tip))).length, 3)
  const deepening = await requestsOf(server, () => look(root))
  t.ok(deepening.length > 3)
  t.equal((await requestsOf(server, () => look(root, { cache: createCache() }))).length, 3, 'all of it is here')
})

t.test('a branch that goes on, is rewritten or goes away is read anew', async (t) => {
  const { long, shas, root, tip, look } = await atLongBranch(t)
  t.equal(await outcome(look(root)), 'as claimed')
  const [next, last] = (await chain(long, 2, tip)) as [string, string]
  await long.push('main', last)
  t.match(await look(next), { differs: [], facts: { head: last } })
  t.equal(await outcome(look(root)), 'as claimed')

  const [fork] = (await chain(long, 1, shas[100])) as [string]
  await long.push('main', fork)
  t.match(
    await look(next),
    { kind: 'absent', mark: 'may_have_been', facts: { head: fork } },
    'what is kept is not there',
  )
  t.equal(await outcome(look(shas[150]!)), 'absent')
  t.equal(await outcome(look(shas[50]!)), 'as claimed')

  await long.deleteBranch('main')
  t.match(await look(fork), { kind: 'absent', facts: { branch_listed: false } })
  await long.push('main', last)
  t.equal(await outcome(look(next)), 'as claimed')
})

t.test('a branch that is rewritten before all of it was fetched is read to its end', async (t) => {
  const { long, shas, recent, root, look } = await atLongBranch(t)
  t.equal(await outcome(look(recent)), 'as claimed')
  const [fork] = (await chain(long, 1, shas[10])) as [string]
  await long.push('main', fork)
  t.equal(await outcome(look(recent)), 'absent')
  t.equal(await outcome(look(root)), 'as claimed')
})

t.test('a history that does not fit into one check is read in several', async (t) => {
  const { server, look, recent, root } = await atLongBranch(t)
  t.equal(await outcome(look(recent)), 'as claimed')
  // What brings the next part: after discovery, the question for the tip, and the question before the fetch.
  for (let check = 0; check < 2; check++) {
    server.faults.inject({ fault: silence(), on: POST, after: 2, times: 1 })
    t.equal(await outcome(look(root, { timeoutMs: 1000 })), 'timeout')
    server.faults.clear()
  }
  const requests = await requestsOf(server, async () => t.equal(await outcome(look(root)), 'as claimed'))
  t.ok(requests.length > 3 + 3, `in smaller steps: ${requests.length} requests`)
  t.equal(await outcome(look(INVENTED)), 'absent')
})

t.test('new commits that do not fit into two checks are begun anew, from the tip', async (t) => {
  const { server, long, tip, root, look } = await atLongBranch(t)
  t.equal(await outcome(look(root)), 'as claimed')
  const [next] = (await chain(long, 1, tip)) as [string]
  await long.push('main', next)
  for (let check = 0; check < 2; check++) {
    server.faults.inject({ fault: silence(), on: POST, after: 1, times: 1 })
    t.equal(await outcome(look(next, { timeoutMs: 1000 })), 'timeout')
    server.faults.clear()
  }
  t.equal((await requestsOf(server, () => look(next))).length, 4, 'the newest commits only')
  t.equal(await outcome(look(root)), 'as claimed')
})

t.test('checks that wait for the same part of a history share its fetch', async (t) => {
  const { server, look, shas } = await atLongBranch(t)
  const cache = createCache()
  const together = await requestsOf(server, () => Promise.all(shas.slice(0, 40).map((sha) => look(sha, { cache }))))
  t.ok(together.length <= 12, `${together.length} requests`)
})

t.test('a server that gives out only whole histories is read whole', async (t) => {
  const { server, look, root } = await atLongBranch(t, { shallow: false })
  t.equal(await outcome(look(root)), 'as claimed')
  t.equal(await outcome(look(INVENTED)), 'absent')
  t.equal((await requestsOf(server, () => look(root, { cache: createCache() }))).length, 3)
})

t.test('a history beyond the limit is dropped, and never absent', async (t) => {
  const { server, look } = await atGitServer(t, { max_pack_mib: 1 })
  const large = await server.createRepository('acme/large')
  await writeLongHistory(large.folder, 20_000)
  for (let check = 0; check < 2; check++) {
    t.equal(await outcome(look(INVENTED, { target: 'acme/large' })), 'unexpected_response')
  }
})

t.test('what was fetched is shared neither with another connection nor with other credentials', async (t) => {
  const { server, look, connect, tip } = await atLongBranch(t)
  const costOf = async (connection: ReturnType<typeof connect>) =>
    (await requestsOf(server, () => look(tip, { connection }))).length
  const first = connect({ username: 'reader', password: 'one' })
  t.equal(await costOf(first), 4)
  t.equal(await costOf(first), 3)
  t.equal(await costOf({ ...first, id: 'conn_2' }), 4, 'another connection')
  t.equal(await costOf(connect({ username: 'reader', password: 'two' })), 4, 'other credentials')
  t.equal(await costOf(first), 3)
})

t.test('what takes more of the disk than all may is removed, the least recently used first', async (t) => {
  const { server, look, connect, folder, long, tip } = await atLongBranch(t, { filters: false }, { git_kept_mib: 1 })
  const sha = await long.commit({ content: randomBytes(700_000).toString('base64'), parents: [tip] })
  await long.push('main', sha)
  const costOf = async (id: string) =>
    (await requestsOf(server, () => look(sha, { connection: { ...connect(), id } }))).length
  const copies = async () => (await readdir(join(folder, (await readdir(folder))[0]!))).length - 1
  t.equal(await costOf('conn_1'), 4)
  t.equal(await costOf('conn_1'), 3)
  t.equal(await copies(), 1)
  t.equal(await costOf('conn_2'), 4)
  t.equal(await copies(), 1)
  t.equal(await costOf('conn_2'), 3)
  t.equal(await costOf('conn_1'), 4)
  for (const branch of ['missing', 'absent']) t.equal(await outcome(look(sha, { branch })), 'differs: branch')
  t.equal(await copies(), 1, 'nothing is kept for a branch that is missing')
})

t.test('the folder of a process that was killed is removed, and no other', async (t) => {
  const { base, look, folder } = await atGitServer(t)
  const hourAgo = new Date(Date.now() - 3_600_000)
  const at = (name: string) => join(folder, `claimcheck-git-${name}`)
  for (const name of ['dead', 'live', 'young']) await mkdir(at(name))
  const listening = createServer().listen(join(at('live'), 'alive'))
  t.teardown(() => listening.close())
  await new Promise((done) => listening.once('listening', done))
  await symlink(folder, at('link'))
  for (const name of ['dead', 'live']) await utimes(at(name), hourAgo, hourAgo)
  t.equal(await outcome(look(base)), 'as claimed')
  const exists = (name: string) =>
    lstat(at(name)).then(
      () => true,
      () => false,
    )
  t.same(await Promise.all(['dead', 'live', 'young', 'link'].map(exists)), [false, true, true, true])
})
