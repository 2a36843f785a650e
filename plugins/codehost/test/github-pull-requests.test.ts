// Test run: slow
/** Pull requests at GitHub: what is read, what an absence rests on, and what a wrong answer never becomes. */
import type { JsonObject } from '@claimcheck/core/plugin'
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { createCache, failsAlike, outcome } from './context.ts'
import { atGitHub, MINUTE, NOON, wholeSecond } from './github-things.ts'

const OPEN = 'pull_request.open'
const MERGE = 'pull_request.merge'
const COMMIT = 'c'.repeat(40)
const LATE = { afterMs: 6 * MINUTE }
const AFTER_TOLERANCE = { afterMs: 11 * MINUTE }

t.test('a pull request takes two requests, and its merge three or four', async (t) => {
  const { repository, base, look, costOf } = await atGitHub(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  t.equal(await costOf(() => look(OPEN, { number })), 2)
  t.equal(await costOf(() => look(MERGE, { number })), 2, 'it is not merged')
  const landed = await repository.pullRequests.merge(number)
  t.equal(await costOf(() => look(MERGE, { number })), 3, 'the tip of the base')
  await repository.push('main', await repository.commit({ parents: [landed] }))
  t.equal(await costOf(() => look(MERGE, { number })), 4)
  t.match(await look(MERGE, { number, base: 'main', merge_commit: landed }), {
    kind: 'present',
    differs: [],
    stays: [{ appeared: wholeSecond(NOON + 1000) }],
    facts: { state: 'merged', merge_commit: landed, merge_commit_on_base: true },
  })
  t.equal(await outcome(look(MERGE, { number, merge_commit: base })), 'differs: merge_commit')
})

t.test('claims that wait for one pull request share its reads, and a second look costs GitHub nothing', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  const cache = createCache()
  const seen = await Promise.all(Array.from({ length: 20 }, () => look(OPEN, { number }, { cache })))
  t.ok(seen.every(({ kind }) => kind === 'present'))
  t.ok(github.requests.length <= 6, github.requests.join('\n'))
  const before = github.statuses.length
  await look(OPEN, { number }, { cache })
  t.strictSame(github.statuses.slice(before), [304, 304])
})

t.test('what is told of it is what it is now', async (t) => {
  const { repository, head, look } = await atGitHub(t)
  const number = await repository.pullRequests.open({ head: 'topic', draft: true, at: NOON - 60 * MINUTE })
  t.match(await look(OPEN, { number }), {
    stays: [{ appeared: wholeSecond(NOON - 60 * MINUTE) }],
    facts: {
      ...{ state: 'open', draft: true, base: 'main', head_sha: head, preexisting: true },
      ...{ repository: 'acme/app', repository_id: String(repository.id) },
    },
  })
  repository.pullRequests.close(number)
  t.match(await look(MERGE, { number }), { kind: 'absent', mark: 'never_before', facts: { state: 'closed' } })
})

t.test('a number that is not a pull request', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  t.match(await look(OPEN, { number: 2 }), { kind: 'absent', mark: 'never_before' }, 'there is none at all')
  t.match(await look(OPEN, { number: 1 }), { kind: 'absent', mark: 'never_before' }, 'it has no ref')
  const deleted = repository.issues.open()
  const issue = repository.issues.open()
  repository.issues.delete(deleted)
  const number = await repository.pullRequests.open({ head: 'topic' })
  t.match(await look(OPEN, { number: number + 2 }), { kind: 'absent', mark: 'never_before' }, 'above the newest')
  t.match(await look(OPEN, { number: issue }), { kind: 'absent', mark: 'never_before' }, 'an issue')
  t.match(await look(OPEN, { number: deleted }), { kind: 'absent', mark: 'never_before' }, 'of an issue that is gone')
  const hidden = await repository.pullRequests.open({ head: 'topic', by: 'flagged' })
  repository.answering.hiddenAccounts = new Set(['flagged'])
  t.match(await look(OPEN, { number: hidden }), { kind: 'absent', mark: 'may_have_been' }, 'hidden, and with a ref')
  github.faults.inject({ fault: status(404), on: /pulls\/\d/, times: 1 })
  t.equal(await outcome(look(OPEN, { number })), 'unavailable', 'the list has it, so that this replica is behind')
})

t.test('without the right to pull requests or contents nothing is absent', async (t) => {
  const { repository, look, token } = await atGitHub(t, { isPrivate: true })
  const number = await repository.pullRequests.open({ head: 'topic' })
  await repository.pullRequests.merge(number)
  const whole = token()
  t.equal(await outcome(look(MERGE, { number }, { token: whole })), 'as claimed')
  t.match(await look(OPEN, { number: 9 }, { token: whole }), { mark: 'never_before' })
  const withoutRefs = token(['pull_requests', 'issues'])
  t.match(await look(OPEN, { number: 9 }, { token: withoutRefs }), { mark: 'may_have_been' }, 'it may be hidden')
  t.match(await look(OPEN, { number: 90 }, { token: withoutRefs }), { mark: 'never_before' }, 'none are so many')
  t.equal(await outcome(look(OPEN, { number })), 'forbidden', 'nobody else sees the repository')
  const blind = token(['contents', 'issues', 'checks'])
  t.equal(await outcome(look(OPEN, { number }, { token: blind })), 'forbidden')
  t.equal(await outcome(look(OPEN, { number: 9 }, { token: blind })), 'forbidden')
  const outside = token(['pull_requests', 'issues'])
  t.equal(await outcome(look(OPEN, { number }, { token: outside })), 'as claimed')
  t.equal(await outcome(look(MERGE, { number }, { token: outside })), 'forbidden', 'its base cannot be seen')
})

t.test('a merge that is gone from the base, and a base that is gone', async (t) => {
  const { repository, base, look } = await atGitHub(t)
  await repository.push('next', base)
  const number = await repository.pullRequests.open({ head: 'topic', base: 'next' })
  await repository.pullRequests.merge(number)
  await repository.push('next', base, { force: true })
  const gone = { kind: 'absent', mark: 'may_have_been', facts: { merge_commit_on_base: false } }
  t.match(await look(MERGE, { number }), gone)
  await repository.deleteBranch('next')
  t.match(await look(MERGE, { number, base: 'next' }), {
    kind: 'present',
    differs: [],
    stays: [{ appeared: wholeSecond(NOON) }],
    facts: { state: 'merged', merge_commit_on_base: undefined },
  })
})

t.test('the events tell whether it had another base', async (t) => {
  const { github, repository, base, look, costOf } = await atGitHub(t)
  await repository.push('next', base)
  const number = await repository.pullRequests.open({ head: 'topic', at: NOON - MINUTE })
  const next = { number, base: 'next' }
  t.match(await look(OPEN, next), { differs: ['base'], stays: [], mark: undefined })
  t.equal(await costOf(() => look(OPEN, next)), 3)
  const stays = [{ appeared: wholeSecond(NOON - MINUTE) }]
  t.match(await look(OPEN, { number, base: 'main' }, { afterMs: 11 * MINUTE }), { differs: [], stays })
  repository.pullRequests.retarget(number, 'next', { at: NOON + MINUTE })
  t.match(await look(OPEN, { number, base: 'main' }, LATE), { differs: ['base'], mark: 'may_have_been' })
  const since = await look(OPEN, next, { afterMs: 11 * MINUTE })
  t.strictSame(since.stays, [{ appeared: { notAfter: NOON + MINUTE + 999 } }])
  for (const fault of [status(403), status(404)]) {
    github.faults.inject({ fault, on: /events/, times: 2 })
    t.match(await look(OPEN, { number, base: 'main' }), { mark: undefined, stays: undefined }, 'a later look may')
    t.match(await look(OPEN, { number, base: 'main' }, AFTER_TOLERANCE), { mark: 'may_have_been', stays: undefined })
  }
  const old = await repository.pullRequests.open({ head: 'topic', base: 'next', at: NOON - 140 * MINUTE })
  repository.pullRequests.retarget(old, 'main', { at: NOON - 130 * MINUTE })
  t.match(await look(OPEN, { number: old, base: 'next' }), { stays: [], mark: undefined }, 'before the window')
  const kept = await look(OPEN, { number: old, base: 'main' }, { afterMs: 11 * MINUTE })
  t.strictSame(kept.stays, [{ appeared: wholeSecond(NOON - 130 * MINUTE) }])
})

t.test('the push log of the branch from which it comes tells which heads it had', async (t) => {
  const { github, repository, base, head, clock, look, token } = await atGitHub(t)
  const number = await repository.pullRequests.open({ head: 'topic', at: NOON - MINUTE })
  const never = { number, head_sha: base }
  t.match(await look(OPEN, never), { differs: ['head_sha'], stays: [], mark: undefined }, 'an ancestor of the head')
  clock.now = NOON + 2000
  const next = await repository.commit({ parents: [head] })
  await repository.push('topic', next)
  const was = await look(OPEN, { number, head_sha: head }, LATE)
  const stay = { appeared: wholeSecond(NOON - MINUTE), removed: wholeSecond(NOON + 2000) }
  t.match(was, { differs: ['head_sha'], stays: [stay], mark: 'may_have_been' })
  const late = await look(OPEN, { number, head_sha: next }, { afterMs: 11 * MINUTE })
  t.strictSame(late.stays, [{ appeared: wholeSecond(NOON + 2000) }])
  const both = { number, head_sha: head, base: 'next' }
  t.match(await look(OPEN, both, LATE), { stays: [], mark: undefined }, 'into this base it never was')

  repository.pullRequests.close(number, { at: NOON + 8 * MINUTE })
  clock.now = NOON + 9 * MINUTE
  const after = await repository.commit({ parents: [next] })
  await repository.push('topic', after)
  const closed = await look(OPEN, { number, head_sha: after }, { afterMs: 11 * MINUTE })
  t.match(closed, { differs: ['head_sha'], stays: [], mark: undefined }, 'the branch went on without it')
  repository.pullRequests.reopen(number, { at: NOON + 9 * MINUTE })
  const reopened = await look(OPEN, { number, head_sha: head }, { afterMs: 11 * MINUTE })
  t.match(reopened, { mark: 'may_have_been', stays: undefined }, 'it did not follow its branch all the time')

  for (const logStatus of [403, 404]) {
    repository.answering.logStatus = logStatus
    t.match(await look(OPEN, never, AFTER_TOLERANCE), { mark: 'may_have_been' }, 'it cannot be read')
  }
  repository.answering.logStatus = 200
  repository.answering.logLagMs = 20 * MINUTE
  t.match(await look(OPEN, never, AFTER_TOLERANCE), { mark: 'may_have_been' }, 'it does not end at the head')
  repository.answering.logLagMs = 0
  const fork = await github.fork(repository, 'forker/app')
  const theirs = await fork.commit({ parents: [base] })
  await fork.push('work', theirs)
  const from = await repository.pullRequests.open({ head: 'work', from: fork })
  t.match(await look(OPEN, { number: from, head_sha: base }, AFTER_TOLERANCE), { stays: [] }, 'in the fork')
  t.ok(github.requests.some((request) => request.includes('forker/app/activity')))
  github.delete(fork)
  const byToken = { ...AFTER_TOLERANCE, token: token() }
  const gone = await look(OPEN, { number: from, head_sha: base }, byToken)
  t.match(gone, { mark: 'may_have_been' }, 'a fork that is gone, and what may have been its head')
  for (const never of [head, COMMIT]) {
    const told = await look(OPEN, { number: from, head_sha: never }, byToken)
    t.match(told, { differs: ['head_sha'], stays: [], mark: undefined }, 'no ancestor of the head was it')
  }
})

const pull = (change: JsonObject = {}) => ({
  ...{ number: 1, state: 'open', merged: false, created_at: '2026-09-25T11:59:00Z', merged_at: null, closed_at: null },
  ...{ merge_commit_sha: null, head: { sha: COMMIT }, base: { ref: 'main', repo: { id: 0 } } },
  ...change,
})

t.test('an answer that says something else', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  await repository.pullRequests.open({ head: 'topic' })
  const base = { ref: 'main', repo: { id: repository.id } }
  const merged = { base, state: 'closed', merged: true, merged_at: '2026-09-25T12:00:00Z', merge_commit_sha: COMMIT }
  const rows: readonly (readonly [name: string, answer: unknown, code: string])[] = [
    ['as it should be', pull({ base }), 'as claimed'],
    ['of another repository', pull({ base: { ref: 'main', repo: { id: repository.id + 1 } } }), 'ambiguous_claim'],
    ['with another number', pull({ base, number: 2 }), 'unexpected_response'],
    ['with a huge number', pull({ base, number: 2 ** 60 }), 'unexpected_response'],
    ['merged, but not when', pull({ base, merged: true }), 'unexpected_response'],
    ['not merged, but when', pull({ base, merged_at: '2026-09-25T12:00:00Z' }), 'unexpected_response'],
    ['with a time that is none', pull({ base, created_at: 'yesterday' }), 'unexpected_response'],
    ['with an abbreviated head', pull({ base, head: { sha: 'c'.repeat(12) } }), 'unexpected_response'],
    ['with another state', pull({ base, state: 'merging' }), 'unexpected_response'],
    ['another thing', { id: 1 }, 'unexpected_response'],
    ['a list', [pull({ base })], 'unexpected_response'],
  ]
  for (const [name, answer, code] of rows) {
    github.faults.inject({ fault: json(answer), on: /pulls\/1$/, times: 1 })
    t.equal(await outcome(look(OPEN, { number: 1 })), code, name)
  }
  github.faults.inject({
    fault: json(pull({ ...merged, base: { ...base, ref: '../../../x' } })),
    on: /pulls\/1$/,
    times: 1,
  })
  t.equal(await outcome(look(MERGE, { number: 1 })), 'unexpected_response', 'a base that leads out of the path')
  github.faults.inject({ fault: json(pull({ ...merged, merge_commit_sha: null })), on: /pulls\/1$/, times: 1 })
  t.match(await look(MERGE, { number: 1 }), { kind: 'absent', mark: 'may_have_been' }, 'merged without a commit')
})

t.test('nothing is reported while one of the requests fails', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  const issue = repository.issues.open()
  const number = await repository.pullRequests.open({ head: 'topic' })
  const landed = await repository.pullRequests.merge(number)
  await repository.push('main', await repository.commit({ parents: [landed] }))
  const merging = (which: number) => () => look(MERGE, { number: which })
  await failsAlike(t, github.faults, [
    [/acme\/app$/, merging(number)],
    [/pulls\/\d+$/, merging(number)],
    [/git\/ref/, merging(number)],
    [/compare/, merging(number)],
    [/pulls\?/, merging(issue)],
    [/git\/ref\/pull/, merging(issue)],
  ])
  for (const fault of [status(403), status(404)]) {
    github.faults.inject({ fault, on: /pulls\?/, times: 1 })
    t.equal(await outcome(look(OPEN, { number: issue })), 'forbidden', 'a list that cannot be read')
  }
})

t.test('a repository that was renamed, and one of another owner behind its name', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  const number = await repository.pullRequests.open({ head: 'topic' })
  github.rename(repository, 'acme/app-2')
  t.match(await look(OPEN, { number }), { kind: 'present', facts: { repository: 'acme/app-2' } })
  github.rename(repository, 'mallory/app')
  t.equal(await outcome(look(OPEN, { number })), 'ambiguous_claim')
  t.equal(await outcome(look(OPEN, { number }, { target: 'acme/tools/app' })), 'unsupported_target')
})
