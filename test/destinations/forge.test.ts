/** The code host that the stand-ins share: what it says of histories is what git says, and what was not pushed is not there. */
import t, { type Test } from 'tap'
import type { CodeHostKind } from './forge/kind.ts'
import { checkAgainst } from './forge/schema.ts'
import { StandIn } from './forge/stand-in.ts'
import { git } from './git.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE = 60_000

/** The smallest host: it says of a repository what its id is. */
const KIND: CodeHostKind = {
  name: 'Any',
  basePath: '/api',
  check: (_, status, body) => (status === 200 && !('id' in (body as object)) ? 'no id' : undefined),
  sharesNumbers: true,
  pullRef: (number) => `refs/pull/${number}/head`,
  makesTestMerges: true,
  routes: [
    { template: '/r/{slug}', answer: ({ repository }) => ({ status: 200, body: { id: repository.id } }) },
    {
      template: '/r/{slug}/branches/{branch}',
      wide: ['branch'],
      needs: 'contents',
      answer: ({ state, params }) => ({ status: 200, body: { id: state.tip(params.branch!) } }),
    },
    { template: '/r/{slug}/wrong', answer: () => ({ status: 200, body: {} }) },
  ],
  find: ({ slug }) => ({ slug: slug! }),
  moved: (repository, { api }) => ({ status: 301, headers: { location: `${api}/r/${repository.slug}` } }),
  notFound: () => ({ status: 404, body: {} }),
  badCredentials: () => ({ status: 401, body: {} }),
}

async function setUp(t: Test) {
  const clock = { now: NOON }
  const standIn = await StandIn.start(KIND, { now: () => clock.now })
  t.teardown(() => standIn.close())
  const repository = await standIn.createRepository('acme/app')
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  const get = (path: string, headers = {}) => fetch(standIn.url + path, { headers, redirect: 'manual' })
  return { clock, standIn, repository, first, base, get }
}

t.test('a commit that was not pushed is unknown, and one that was pushed is known by its beginning', async (t) => {
  const { repository, base } = await setUp(t)
  const sha = await repository.commit({ parents: [base] })
  t.notOk(repository.asOf().has(sha))
  t.equal(await repository.asOf().resolve(sha.slice(0, 12)), undefined)
  await t.rejects(git(repository.folder, ['cat-file', '-e', sha]), 'git does not have it either')
  await repository.push('topic/a', sha)
  const state = repository.asOf()
  t.equal(await state.resolve(sha.slice(0, 12)), sha)
  t.equal(await state.resolve('topic/a'), sha)
  t.same(state.branchesWithTip(sha), ['topic/a'])
  t.same(await state.branchesContaining(base), ['main', 'topic/a'])
  t.equal(await git(repository.folder, ['rev-parse', 'refs/heads/topic/a']), sha)
  await repository.deleteBranch('topic/a')
  await repository.push('topic', sha)
  await t.rejects(repository.push('topic', base), /not a fast-forward/)
  await repository.push('topic', base, { force: true })
  t.same(
    repository.listed().map(({ ref, kind }) => `${kind} ${ref.replace('refs/heads/', '')}`),
    ['force topic', 'create topic', 'delete topic/a', 'create topic/a', 'create main'],
  )
})

t.test('forks share objects, not branches', async (t) => {
  const { standIn, repository, base } = await setUp(t)
  const fork = await standIn.fork(repository, 'mallory/app')
  const sha = await fork.commit({ parents: [base] })
  await fork.push('main', sha)
  t.ok(repository.asOf().has(sha))
  t.notOk(await repository.asOf().isReachable(sha))
  t.ok(await fork.asOf().isReachable(sha))
  const number = await repository.pullRequests.open({ head: 'main', from: fork })
  const next = await fork.commit({ parents: [sha] })
  await fork.push('main', next)
  t.equal(repository.asOf().pullRequest(number)?.headSha, next, 'a push to its branch moves its head')
  standIn.delete(fork)
  t.equal(repository.asOf().pullRequest(number)?.from.deletedAt, NOON)
})

t.test('merges make the commits that git would make', async (t) => {
  const { repository, base } = await setUp(t)
  // How many commits its history has then, with the two that were there.
  const counts = { merge: 5, squash: 3, 'squash-merge': 4, 'fast-forward': 4, rebase: 4 }
  for (const [how, expected] of Object.entries(counts)) {
    const one = await repository.commit({ parents: [base] })
    const two = await repository.commit({ parents: [one] })
    const [head, into] = [`${how}-topic`, `${how}-base`]
    await repository.push(head, two)
    await repository.push(into, base)
    const number = await repository.pullRequests.open({ head, base: into })
    const landed = await repository.pullRequests.merge(number, { how: how as keyof typeof counts })
    const { tip, pullRequest, branchesContaining } = repository.asOf()
    t.equal(tip(into), landed)
    t.match(pullRequest(number), { state: 'merged', landed, mergedHow: how, baseSha: base, headSha: two })
    t.equal((await branchesContaining(two)).includes(into), how === 'merge' || how === 'fast-forward', how)
    t.equal(await git(repository.folder, ['rev-list', '--count', landed]), String(expected), how)
  }
  t.equal(repository.issues.open(), Object.keys(counts).length + 1, 'issues are counted with them')
})

t.test('histories are compared as git compares them, merges and wrong clocks among them', async (t) => {
  const { repository } = await setUp(t)
  const { pool } = repository
  const lines = (text: string) => text.split('\n').filter(Boolean)
  let state = 7
  // The same numbers each time.
  const pick = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
  const shas: string[] = []
  for (let index = 0; index < 40; index++) {
    const recent = shas.slice(-6)
    const chosen = Array.from({ length: [0, 1, 1, 1, 2, 2, 3][pick(7)]! }, () => recent[pick(recent.length || 1)])
    const parents = [...new Set(chosen)].filter((sha) => sha !== undefined)
    shas.push(await repository.commit({ parents, date: new Date(NOON + pick(1_000_000) * 1000) }))
  }
  for (const sha of shas) await repository.hold(sha)
  const counts = { several: 0, unrelated: 0, diverged: 0 }
  for (let pair = 0; pair < 40; pair++) {
    const [base, head] = [shas[pick(40)]!, shas[pick(40)]!]
    const bases = lines(await git(pool.folder, ['merge-base', '--all', base, head]).catch(() => ''))
    t.same(await pool.mergeBases(base, head), bases)
    t.equal(await pool.isAncestor(base, head), bases.includes(base))
    const ahead = await pool.between(base, head)
    t.same([...ahead].sort(), lines(await git(pool.folder, ['rev-list', `${base}..${head}`])).sort())
    const isInOrder = ahead.every((sha, at) => pool.show(sha).parents.every((parent) => ahead.indexOf(parent) < at))
    t.ok(isInOrder, 'parents come first')
    if (bases.length > 1) counts.several++
    if (bases.length === 0) counts.unrelated++
    if (bases.length > 0 && !bases.includes(base) && !bases.includes(head)) counts.diverged++
  }
  for (const [kind, count] of Object.entries(counts)) t.ok(count > 1, `${kind}: ${count}`)
})

t.test('what a replica shows that is behind', async (t) => {
  const { clock, repository, base } = await setUp(t)
  const sha = await repository.commit({ parents: [base] })
  clock.now += MINUTE
  await repository.push('topic', sha)
  const number = await repository.pullRequests.open({ head: 'topic' })
  const issue = repository.issues.open()
  clock.now += MINUTE
  const landed = await repository.pullRequests.merge(number, { how: 'squash' })
  repository.issues.close(issue, { reason: 'not_planned' })
  const release = await repository.releases.create({ tag: 'v1', draft: true })
  await repository.releases.publish(release, { at: clock.now + MINUTE })
  const run = repository.checks.run({ sha, name: 'test', outcome: 'failure' })
  repository.checks.rerun(run, { at: clock.now + MINUTE })

  const seen = (lagMs: number) => {
    repository.answering.replicaLagMs = lagMs
    const state = repository.asOf()
    return {
      tip: state.tip('main') === landed,
      known: state.has(sha),
      pull: state.pullRequest(number)?.state,
      issue: state.issue(issue)?.state,
      release: state.releaseOf('v1')?.isDraft,
      tag: state.tag('v1')?.sha === landed,
      attempts: state.runs(sha).map(({ attempt, state }) => [attempt, state]),
    }
  }
  const none = { tip: false, known: false, pull: undefined, issue: undefined, release: undefined, tag: false }
  t.same(seen(3 * MINUTE), { ...none, attempts: [] })
  t.same(seen(MINUTE), { ...none, known: true, pull: 'open', issue: 'open', attempts: [] })
  t.same(seen(1), { ...none, known: true, pull: 'open', issue: 'open', attempts: [] })
  const merged = { tip: true, known: true, pull: 'merged', issue: 'closed' }
  clock.now += MINUTE
  t.same(seen(1), { ...merged, release: undefined, tag: false, attempts: [[1, 'ended']] })
  const all = { ...merged, release: false, tag: true }
  t.same(seen(0), {
    ...all,
    attempts: [
      [1, 'ended'],
      [2, 'queued'],
    ],
  })
})

t.test('tokens, renames, git, and answers that do not fit', async (t) => {
  const { standIn, repository, base, get } = await setUp(t)
  repository.isPrivate = true
  standIn.addToken({ token: 'all', repositories: [repository] })
  standIn.addToken({ token: 'metadata', repositories: [repository], contents: false })
  standIn.addToken({ token: 'nothing' })
  const status = async (path: string, token?: string) =>
    (await get(path, token === undefined ? {} : { authorization: `Bearer ${token}` })).status
  t.equal(await status('/r/acme%2Fapp'), 404)
  t.equal(await status('/r/acme%2Fapp', 'nothing'), 404)
  t.equal(await status('/r/acme%2Fapp', 'unknown'), 401)
  t.equal(await status('/r/acme%2Fapp', 'metadata'), 200)
  t.equal(await status('/r/acme%2Fapp/branches/main', 'metadata'), 404)
  t.equal(await status('/r/acme%2Fapp/branches/main', 'all'), 200)
  const address = standIn.origin.replace('//', '//user:all@')
  t.match(await git(repository.folder, ['ls-remote', `${address}/acme/app.git`, 'refs/heads/*']), base)
  await t.rejects(git(repository.folder, ['ls-remote', `${standIn.origin}/acme/app.git`]))
  standIn.rename(repository, 'acme/new')
  t.equal(await status('/r/acme%2Fapp', 'all'), 301)
  t.equal(await status('/r/acme%2Fnew', 'all'), 200)
  t.equal(await status('/r/acme%2Fnew/wrong', 'all'), 599)
  t.same(standIn.invalidAnswers.splice(0), ['no id'])
})

t.test('answers are held against descriptions of both kinds', async (t) => {
  const name = { type: 'string' }
  const Branch = { type: 'object', properties: { name, sha: { type: 'string', nullable: true } }, required: ['name'] }
  const openApi = (schema: object) => {
    const responses = { 200: { content: { 'application/json': { schema } } } }
    return checkAgainst({ paths: { '/b': { get: { responses } } }, components: { schemas: { Branch } } })
  }
  const swagger = (response: object, options = {}) =>
    checkAgainst(
      {
        paths: { '/b': { get: { responses: { 200: { $ref: '#/responses/one' } } } } },
        responses: { one: { ...response } },
        definitions: { Branch: { type: 'object', properties: { name } } },
      },
      options,
    )
  const ref = (where: string) => ({ $ref: `#/${where}/Branch` })
  const open = openApi({ allOf: [ref('components/schemas')] })
  const either = openApi({ anyOf: [{ type: 'object' }, ref('components/schemas')] })
  const wide = swagger({ schema: ref('definitions') })
  const closed = swagger({ schema: ref('definitions') }, { isClosed: true, required: { Branch: ['name'] } })
  const ours = swagger({ schema: ref('definitions'), 'x-ours-schema': { type: ['array', 'null'] } })
  const rows = [
    [open, { name: 'a', sha: null }, true],
    [open, { name: null }, false],
    [open, {}, false],
    [either, {}, false],
    [wide, { nmae: 'a' }, true],
    [closed, { nmae: 'a' }, false],
    [closed, { name: 'a', nmae: 'a' }, false],
    [closed, { name: 'a' }, true],
    [ours, [], true],
    [ours, { name: 'a' }, false],
  ] as const
  for (const [check, body, fits] of rows) t.equal(check('/b', 200, body) === undefined, fits, JSON.stringify(body))
  t.match(open('/b', 200, {}), "must have required property 'name'")
  t.equal(open('/other', 200, {}), undefined, 'what is not described is not checked')
  t.equal(open('/b', 404, {}), undefined, 'a failure that is not listed may be')
})
