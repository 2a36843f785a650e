// Test run: slow
/** GitLab in trouble, or hostile: an answer that is not what was asked for is no evidence. And the connection type. */
import type { JsonObject } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { type Fault, html, json, redirectTo, status, truncatedJson } from '../../../test/destinations/faults.ts'
import { outcome, probe } from './context.ts'
import { atGitLab, MINUTE, NOON, TOKEN, verifierOf } from './gitlab-fixture.ts'

const CLAIMS = ['codehost.commit.push', 'codehost.pull_request.merge', 'codehost.checks.pass'] as const
const MORE = ['codehost.release.publish', 'codehost.issue.close'] as const

/** One of each kind, all of which are so. */
async function setUp(t: Test) {
  const world = await atGitLab(t)
  const { repository, base, push } = world
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  const number = await repository.pullRequests.open({ head: 'topic' })
  const landed = await repository.pullRequests.merge(number)
  await push('main', await repository.commit({ parents: [landed] }), NOON)
  repository.checks.run({ sha, name: 'test' })
  await repository.releases.create({ tag: 'v1' })
  repository.issues.close(repository.issues.open())
  const params: Record<string, JsonObject> = {
    'codehost.commit.push': { sha, branch: 'main' },
    'codehost.pull_request.merge': { number },
    'codehost.checks.pass': { sha, checks: [{ name: 'test', by: 'gitlab-ci' }] },
    'codehost.release.publish': { tag: 'v1' },
    'codehost.issue.close': { number: 1 },
  }
  const look = (action: string) => world.look(action, params[action]!, { at: NOON + 11 * MINUTE })
  return { ...world, sha, number, landed, look, lookAt: world.look }
}

t.test('answers that say nothing, at every request of every action', async (t) => {
  const { gitlab, look } = await setUp(t)
  const faults: readonly (readonly [string, Fault])[] = [
    ['unauthorized', status(401)],
    ['forbidden', status(403)],
    ['rate_limited', status(429, { 'retry-after': '30' })],
    ['unavailable', status(502)],
    ['unexpected_response', status(418)],
    ['unexpected_response', html()],
    ['unexpected_response', truncatedJson()],
    ['unexpected_response', json({})],
    ['unexpected_response', json([{}])],
    ['unexpected_response', json(null)],
    ['unexpected_response', redirectTo('https://elsewhere.test/')],
  ]
  for (const action of [...CLAIMS, ...MORE]) {
    const before = gitlab.requests.length
    t.equal(await outcome(look(action)), 'as claimed', action)
    const count = gitlab.requests.length - before
    for (let at = 0; at < count; at++) {
      // Without its log, a push that was seen was seen.
      const request = gitlab.requests[before + at]!
      if (/\/events|state_events|versions/.test(request)) continue
      for (const [code, fault] of faults) {
        gitlab.faults.inject({ fault, after: at, times: 1 })
        t.equal(await outcome(look(action)), code, `${code} in place of ${request}`)
        gitlab.faults.clear()
      }
    }
  }
})

t.test('a log that cannot be read adds nothing to what was seen', async (t) => {
  const { gitlab, look } = await setUp(t)
  for (const fault of [status(500), status(403), html(), json([{}]), json({})]) {
    gitlab.faults.inject({ fault, on: /\/events/ })
    t.match(await look('codehost.commit.push'), { kind: 'present', differs: [], stays: undefined })
    gitlab.faults.clear()
  }
})

t.test('other things than were asked for', async (t) => {
  const { gitlab, look, lookAt, repository, sha, number, base } = await setUp(t)
  const branch = { name: 'main', commit: { id: sha } }
  const mergeRequest = {
    ...{ iid: number, project_id: repository.id, target_project_id: repository.id, state: 'merged', sha },
    ...{ target_branch: 'main', merge_commit_sha: null, created_at: '2026-09-25T12:00:00Z', merged_at: null },
  }
  const issue = { iid: 1, project_id: repository.id, state: 'closed' }
  const pipeline = { id: 7, sha: base, ref: 'main', status: 'success', source: 'push' }
  const job = { id: 1, name: 'test', status: 'success', allow_failure: false, pipeline: { id: 99 } }
  const release = { tag_name: 'v2', created_at: '2026-09-25T12:00:00Z', released_at: null, assets: { links: [] } }
  const rows: readonly (readonly [RegExp, unknown, string, string])[] = [
    [/branches\/main/, { ...branch, name: 'Main' }, 'codehost.commit.push', 'unexpected_response'],
    [/branches\/main/, { ...branch, commit: { id: sha.slice(0, 8) } }, 'codehost.commit.push', 'unexpected_response'],
    [/branches\/main/, { ...branch, commit: null }, 'codehost.commit.push', 'unexpected_response'],
    [/merge_requests\//, { ...mergeRequest, iid: number + 1 }, 'codehost.pull_request.merge', 'unexpected_response'],
    [/merge_requests\//, { ...mergeRequest, project_id: 5 }, 'codehost.pull_request.merge', 'ambiguous_claim'],
    [/merge_requests\//, { ...mergeRequest, target_project_id: 5 }, 'codehost.pull_request.merge', 'ambiguous_claim'],
    [/merge_requests\//, { ...mergeRequest, state: 'done' }, 'codehost.pull_request.merge', 'unexpected_response'],
    [/merge_requests\//, { ...mergeRequest, sha: 'abc' }, 'codehost.pull_request.merge', 'unexpected_response'],
    [/issues\//, { ...issue, iid: 2 }, 'codehost.issue.close', 'unexpected_response'],
    [/issues\//, { ...issue, project_id: 5 }, 'codehost.issue.close', 'ambiguous_claim'],
    [/issues\//, { ...issue, moved_to_id: 5 }, 'codehost.issue.close', 'ambiguous_claim'],
    [/pipelines\?/, [pipeline], 'codehost.checks.pass', 'unexpected_response'],
    [/jobs\?/, [job], 'codehost.checks.pass', 'unexpected_response'],
    [/jobs\?/, [{ ...job, id: 1e300 }], 'codehost.checks.pass', 'unexpected_response'],
    [/releases\//, release, 'codehost.release.publish', 'unexpected_response'],
    [/tags\//, { name: 'v10', commit: { id: sha } }, 'codehost.release.publish', 'unexpected_response'],
    [
      /projects\/[^/]+$/,
      { id: 0, path_with_namespace: 'a/b', created_at: 'x' },
      'codehost.issue.close',
      'unexpected_response',
    ],
  ]
  for (const [on, body, action, code] of rows) {
    gitlab.faults.inject({ fault: json(body), on })
    t.equal(await outcome(look(action)), code, `${on}: ${JSON.stringify(body)}`)
    gitlab.faults.clear()
  }
  // A list of another project's merge requests.
  gitlab.faults.inject({ fault: json([{ iid: 1, project_id: 5 }]), on: /merge_requests\?/ })
  t.equal(await outcome(lookAt('codehost.pull_request.merge', { number: 9 })), 'unexpected_response')
})

t.test('lists that do not end, and lists that loop', async (t) => {
  const { gitlab, look } = await setUp(t)
  const pages = (next: (page: number) => string): Fault => {
    return (request, response) => {
      const page = Number(new URL(request.url!, 'http://x').searchParams.get('page'))
      const headers = { 'content-type': 'application/json', 'x-next-page': next(page) }
      response.writeHead(200, headers).end('[]')
    }
  }
  // More than was asked for, on a page.
  const tooMany: Fault = ({ url }, response) => {
    const pipeline = { id: Number(/pipelines\/(\d+)/.exec(url!)?.[1]) }
    const job = (id: number) => ({ id, name: `${id}`, status: 'failed', allow_failure: false, pipeline })
    response.writeHead(200, { 'content-type': 'application/json', 'x-next-page': '' })
    response.end(JSON.stringify(Array.from({ length: 51 }, (_, index) => job(index + 1))))
  }
  const rows: readonly (readonly [string, Fault])[] = [
    ['too_large', pages((page) => String(page + 1))],
    ['unexpected_response', pages(() => '1')],
    ['unexpected_response', pages(() => '-1')],
    ['unexpected_response', pages((page) => String(page + 2))],
    // Nothing tells whether there is more.
    ['unexpected_response', json([])],
    ['unexpected_response', tooMany],
  ]
  for (const [code, fault] of rows) {
    gitlab.faults.inject({ fault, on: /\/jobs\?/ })
    t.equal(await outcome(look('codehost.checks.pass')), code)
    gitlab.faults.clear()
  }
})

t.test('404 of the whole project, and of a right', async (t) => {
  const { gitlab, look, lookAt, repository } = await setUp(t)
  const limited = 'glpat-metadata-0123456'
  gitlab.addToken({ token: limited, repositories: [repository], contents: false })
  const options = { token: limited }
  const sha = 'a'.repeat(40)
  const params: Record<string, JsonObject> = {
    'codehost.commit.push': { sha, branch: 'x' },
    'codehost.checks.pass': { sha },
    'codehost.release.publish': { tag: 'x' },
  }
  for (const action of [...CLAIMS, ...MORE]) {
    const claimed = params[action] ?? { number: 9 }
    t.equal(await outcome(lookAt(action, claimed, { options })), 'forbidden', action)
    t.equal(await outcome(lookAt(action, claimed, { target: 'acme/gone' })), 'forbidden', action)
  }
  // Some servers show pipelines to those to whom the code is not there.
  const empty: Fault = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-next-page': '' }).end('[]')
  }
  gitlab.faults.inject({ fault: empty, on: /pipelines\?/ })
  gitlab.faults.inject({ fault: status(404), on: /commits\// })
  t.equal(await outcome(lookAt('codehost.checks.pass', { sha }, { options })), 'forbidden')
  gitlab.faults.clear()
  gitlab.revokeToken(TOKEN)
  t.equal(await outcome(look('codehost.commit.push')), 'unauthorized')
})

t.test('a public project without a token', async (t) => {
  const { gitlab, repository, base, lookAt } = await setUp(t)
  repository.isPrivate = false
  const connection = { id: 'conn_1', provider: 'gitlab', options: { base_url: gitlab.origin } }
  const given = { connection }
  t.match(await lookAt('codehost.commit.push', { sha: base, branch: 'main' }, given), { kind: 'present', differs: [] })
  t.match(await lookAt('codehost.issue.close', { number: 1 }, given), { kind: 'present', differs: [] })
  t.equal(await outcome(lookAt('codehost.issue.close', { number: 9 }, given)), 'forbidden', 'it may be confidential')
  repository.checks.post({ sha: base, context: 'scan', state: 'success', by: 'bot' })
  const checks = [{ name: 'scan', by: 'account:bot' }]
  t.equal(await outcome(lookAt('codehost.checks.pass', { sha: base, checks }, given)), 'unauthorized')
})

t.test('the connection type', async (t) => {
  const { gitlab, repository, connect } = await setUp(t)
  const types = verifierOf('codehost.issue.close').providers
  t.ok(types.includes('gitlab'))
  const { options } = connect()
  t.match(await probe('gitlab', options), {
    proves: 'reached',
    scopes: ['read_api'],
    warnings: [/^GitLab does not say which role/],
  })
  gitlab.addToken({ token: 'glpat-writes-0123456', repositories: [repository], scopes: 'api, read_user' })
  const writing = await probe('gitlab', { ...options, token: 'glpat-writes-0123456' })
  t.match(writing.warnings[0], /can also write \(api\)/)
  gitlab.addToken({ token: 'glpat-git-only-012345', repositories: [repository], scopes: 'read_repository' })
  t.match(
    (await probe('gitlab', { ...options, token: 'glpat-git-only-012345' })).warnings[0],
    /needs the scope read_api/,
  )
  t.match((await probe('gitlab', { base_url: gitlab.origin })).warnings, [/^Without a token/])
  await t.rejects(probe('gitlab', { ...options, token: 'glpat-unknown-012345' }), { code: 'unauthorized' })
  t.equal((await probe('gitlab', options, repository.slug)).proves, 'works')
  await t.rejects(probe('gitlab', options, 'acme/none'), { code: 'forbidden' })
  gitlab.faults.inject({ fault: status(404), on: /personal_access_tokens/ })
  t.match(await probe('gitlab', options), { scopes: [], warnings: [/does not say what the token can do/, /role/] })
})
