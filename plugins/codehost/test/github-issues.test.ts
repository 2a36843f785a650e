// Test run: slow
/** Issues at GitHub: what is read, what an absence rests on, and what a wrong answer never becomes. */
import type { JsonObject } from '@claimcheck/core/plugin'
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { failsAlike, outcome } from './context.ts'
import { atGitHub, MINUTE, NOON, wholeSecond } from './github-things.ts'

const CLOSE = 'issue.close'
const LATE = { afterMs: 6 * MINUTE }
const AFTER_TOLERANCE = { afterMs: 12 * MINUTE }
const SEEN_OPEN = { earlier: { kind: 'absent', facts: { state: 'open' } } } as const

t.test('an issue takes two requests, and one more where its events may tell of an earlier closing', async (t) => {
  const { repository, look, costOf } = await atGitHub(t)
  const number = repository.issues.open()
  t.equal(await costOf(() => look(CLOSE, { number })), 3, 'open, at the first look')
  t.equal(await costOf(() => look(CLOSE, { number }, { ...LATE, ...SEEN_OPEN })), 2, 'open still')
  t.equal(await costOf(() => look(CLOSE, { number }, { ...AFTER_TOLERANCE, ...SEEN_OPEN })), 3, 'open at the end')
  repository.issues.close(number, { at: NOON + MINUTE, reason: 'duplicate' })
  t.equal(await costOf(() => look(CLOSE, { number }, LATE)), 2, 'closed in time')
  t.equal(await costOf(() => look(CLOSE, { number, reason: 'duplicate' }, AFTER_TOLERANCE)), 3, 'since when for this')
  t.match(await look(CLOSE, { number }), {
    kind: 'present',
    stays: [{ appeared: wholeSecond(NOON + MINUTE) }],
    facts: { state: 'closed', closed_as: 'duplicate' },
  })
})

t.test('the events tell when it was closed, and opened again', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  const number = repository.issues.open()
  const stay = (from: number, until?: number) => ({
    appeared: wholeSecond(NOON + from * MINUTE),
    ...(until === undefined ? {} : { removed: wholeSecond(NOON + until * MINUTE) }),
  })
  repository.issues.close(number, { at: NOON - 130 * MINUTE })
  repository.issues.reopen(number, { at: NOON - 120 * MINUTE })
  const before = await look(CLOSE, { number }, LATE)
  t.match(before, { mark: undefined, stays: [] }, 'before the window: that is not what it means')
  repository.issues.close(number, { at: NOON + MINUTE })
  repository.issues.reopen(number, { at: NOON + 2 * MINUTE })
  t.match(await look(CLOSE, { number }, LATE), { kind: 'absent', stays: [stay(1, 2)], mark: 'may_have_been' })
  repository.issues.close(number, { at: NOON + 11 * MINUTE })
  const again = await look(CLOSE, { number }, { ...AFTER_TOLERANCE, ...SEEN_OPEN })
  t.strictSame(again.stays, [stay(1, 2), stay(11)], 'closed too late, and closed before')
  for (const fault of [status(403), status(404), status(410)]) {
    const open = repository.issues.open()
    github.faults.inject({ fault, on: /events/, times: 1 })
    t.match(await look(CLOSE, { number: open }, AFTER_TOLERANCE), { mark: 'may_have_been' }, 'they cannot be read')
  }
})

t.test('the events tell for which reason it was closed', async (t) => {
  const { repository, look } = await atGitHub(t)
  const planned = { reason: 'not_planned' } as const
  const closed = (...reasons: readonly ('completed' | 'not_planned' | 'duplicate')[]) => {
    const number = repository.issues.open()
    for (const [index, reason] of reasons.entries())
      repository.issues.close(number, { at: NOON + index * 1000, reason })
    return number
  }
  t.match(await look(CLOSE, { number: closed('completed'), ...planned }, LATE), { differs: ['reason'], stays: [] })
  const changed = await look(CLOSE, { number: closed('not_planned', 'duplicate'), ...planned }, LATE)
  const stays = [{ appeared: wholeSecond(NOON), removed: wholeSecond(NOON + 1000) }]
  t.match(changed, { differs: ['reason'], stays, mark: 'may_have_been' })
  const untold = await look(CLOSE, { number: closed('completed', 'duplicate'), ...planned }, LATE)
  t.match(
    untold,
    { mark: 'may_have_been', stays: undefined },
    'an event leaves out `completed`, and may leave out more',
  )
  const kept = await look(CLOSE, { number: closed('not_planned'), ...planned }, AFTER_TOLERANCE)
  t.strictSame(kept.stays, [{ appeared: wholeSecond(NOON) }])

  const silent = closed('duplicate')
  repository.issues.changeReason(silent, 'not_planned')
  t.match(await look(CLOSE, { number: silent, ...planned }, AFTER_TOLERANCE), { differs: [], stays: undefined })
  const was = await look(CLOSE, { number: silent, reason: 'duplicate' }, AFTER_TOLERANCE)
  t.match(was, { mark: 'may_have_been', stays: undefined }, 'changed at a time that nothing tells')
})

t.test('of many events those of the window are read, from the end', async (t) => {
  const { repository, look, costOf } = await atGitHub(t)
  const number = repository.issues.open()
  const flip = (times: number, at: number) => {
    for (let index = 0; index < times; index++) {
      repository.issues.close(number, { at })
      repository.issues.reopen(number, { at })
    }
  }
  flip(160, NOON - 180 * MINUTE)
  const old = await look(CLOSE, { number }, LATE)
  t.match(old, { kind: 'absent', stays: [], mark: undefined }, 'before the window')
  t.equal(await costOf(() => look(CLOSE, { number }, LATE)), 2 + 2)
  flip(1, NOON + MINUTE)
  const { stays, mark } = await look(CLOSE, { number }, LATE)
  t.match({ stays, mark }, { stays: [{ appeared: wholeSecond(NOON + MINUTE) }], mark: 'may_have_been' })
  flip(1200, NOON + 2 * MINUTE)
  t.match(await look(CLOSE, { number }, LATE), { stays: undefined, mark: undefined }, 'a later look reads on')
  const cut = await look(CLOSE, { number }, AFTER_TOLERANCE)
  t.match(cut, { stays: undefined, mark: 'may_have_been' }, 'more than a check reads')
  t.equal(await costOf(() => look(CLOSE, { number }, AFTER_TOLERANCE)), 2 + 22)
})

t.test('after events that the window excludes a liar is blamed', async (t) => {
  const { repository, look } = await atGitHub(t)
  const number = repository.issues.open()
  for (let index = 0; index < 301; index++)
    repository.issues.close(number, { at: NOON + 11 * MINUTE, reason: 'duplicate' })
  repository.issues.reopen(number, { at: NOON + 12 * MINUTE })
  const seen = await look(CLOSE, { number, reason: 'not_planned' }, { afterMs: 15 * MINUTE, ...SEEN_OPEN })
  t.match(seen, { kind: 'absent', stays: [], mark: undefined })
})

t.test('a number that is not an issue', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  t.match(await look(CLOSE, { number: 51 }), { kind: 'absent', mark: 'never_before' }, 'there is none at all')
  t.match(await look(CLOSE, { number: 50 }), { kind: 'absent', mark: 'may_have_been' }, 'so many may be hidden')
  const [deleted, moved, open] = [1, 2, 3].map(() => repository.issues.open())
  const pull = await repository.pullRequests.open({ head: 'topic' })
  repository.issues.delete(deleted!)
  t.match(await look(CLOSE, { number: pull + 51 }), { kind: 'absent', mark: 'never_before' }, 'above the newest')
  t.match(await look(CLOSE, { number: deleted! }), { kind: 'absent', mark: 'may_have_been' }, 'it was deleted')
  t.equal(await outcome(look(CLOSE, { number: pull })), 'ambiguous_claim', 'a pull request')
  repository.issues.transfer(moved!, await github.createRepository('acme/other'))
  t.equal(await outcome(look(CLOSE, { number: moved! })), 'ambiguous_claim', 'it was transferred')
  const hidden = await github.createRepository('acme/hidden', { isPrivate: true })
  const away = repository.issues.open()
  repository.issues.transfer(away, hidden)
  repository.issues.open()
  t.match(await look(CLOSE, { number: away }), { kind: 'absent', mark: 'may_have_been' }, 'to where nobody sees it')
  const last = repository.issues.open()
  repository.issues.transfer(last, hidden)
  t.match(await look(CLOSE, { number: last }, LATE), { mark: 'may_have_been' }, 'the newest one, too')
  t.match(
    await look(CLOSE, { number: last }, { ...LATE, ...SEEN_OPEN }),
    { mark: 'may_have_been' },
    'after it was seen',
  )
  t.match(await look(CLOSE, { number: last + 51 }, LATE), { mark: 'never_before' }, 'further above')
  github.faults.inject({ fault: status(410), on: /issues/ })
  t.match(await look(CLOSE, { number: open! }), { mark: 'may_have_been' }, 'the repository has no issues any more')
})

t.test('a repository that was made after the claim blames nobody', async (t) => {
  const { github, look } = await atGitHub(t)
  const young = await github.createRepository('acme/young', { createdAt: NOON + MINUTE })
  const target = { target: 'acme/young', ...AFTER_TOLERANCE }
  const number = young.issues.open()
  t.match(await look(CLOSE, { number: number + 5 }, target), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look('pull_request.open', { number: number + 5 }, target), { kind: 'absent', mark: 'may_have_been' })
  const base = await young.commit()
  await young.push('main', base)
  await young.push('topic', await young.commit({ parents: [base] }))
  const pull = await young.pullRequests.open({ head: 'topic' })
  t.match(await look('pull_request.merge', { number: pull }, target), { kind: 'absent', mark: 'may_have_been' })
  const at = NOON + 11 * MINUTE
  const opened = await look('pull_request.open', { number: pull }, target)
  t.match(opened, { kind: 'present', stays: [{ appeared: { notBefore: undefined } }], mark: undefined })
  young.issues.close(number, { at })
  const closed = await look(CLOSE, { number }, target)
  t.match(closed, { kind: 'present', stays: [{ appeared: { notBefore: undefined, notAfter: at + 999 } }] })
})

t.test('without the right to issues nothing is absent', async (t) => {
  const { github, repository, look, token } = await atGitHub(t, { isPrivate: true })
  const pull = await repository.pullRequests.open({ head: 'topic' })
  const blind = token(['contents', 'pull_requests'])
  t.equal(await outcome(look(CLOSE, { number: 9 }, { token: blind })), 'forbidden')
  const whole = token()
  github.faults.inject({ fault: json([{ number: pull, pull_request: {} }]), on: /issues\?/, times: 1 })
  t.equal(await outcome(look(CLOSE, { number: 9 }, { token: whole })), 'forbidden', 'a list of pull requests alone')
  repository.issues.open()
  t.match(await look(CLOSE, { number: 90 }, { token: whole }), { kind: 'absent', mark: 'never_before' })
  const issuesAlone = token(['issues'])
  github.faults.inject({ fault: json([{ number: pull + 1 }]), on: /issues\?/, times: 1 })
  t.match(await look(CLOSE, { number: 90 }, { token: issuesAlone }), { mark: 'may_have_been' }, 'no list of the others')
})

t.test('an answer that says something else', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  const number = repository.issues.open()
  const repository_url = `${github.url}/repos/Acme/App`
  const issue = (change: JsonObject = {}) => ({
    ...{ number, repository_url, state: 'closed', state_reason: null, closed_at: '2026-09-25T12:00:00Z' },
    ...change,
  })
  const rows: readonly (readonly [name: string, answer: unknown, code: string])[] = [
    ['as it should be', issue(), 'as claimed'],
    ['with a reason that is none of ours', issue({ state_reason: 'too_hard' }), 'as claimed'],
    ['of another repository', issue({ repository_url: `${github.url}/repos/acme/app2` }), 'ambiguous_claim'],
    ['of one whose name ends alike', issue({ repository_url: `${github.url}/repos/x/acme/app` }), 'ambiguous_claim'],
    ['with another number', issue({ number: number + 1 }), 'unexpected_response'],
    ['closed, but not when', issue({ closed_at: null }), 'unexpected_response'],
    ['open, but closed', issue({ state: 'open' }), 'unexpected_response'],
    ['with another state', issue({ state: 'done' }), 'unexpected_response'],
    ['with a time that is none', issue({ closed_at: '25 September' }), 'unexpected_response'],
    ['another thing', { id: 1 }, 'unexpected_response'],
  ]
  for (const [name, answer, code] of rows) {
    github.faults.inject({ fault: json(answer), on: /issues\/\d+$/, times: 1 })
    t.equal(await outcome(look(CLOSE, { number })), code, name)
  }
})

t.test('nothing is reported while one of the requests fails', async (t) => {
  const { github, repository, look } = await atGitHub(t)
  const number = repository.issues.open()
  const closing = (which: number) => () => look(CLOSE, { number: which }, LATE)
  await failsAlike(t, github.faults, [
    [/acme\/app$/, closing(number)],
    [/issues\/\d+$/, closing(number)],
    [/events/, closing(number)],
    [/issues\?/, closing(number + 90)],
  ])
})
