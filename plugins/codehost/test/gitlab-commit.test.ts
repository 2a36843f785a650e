// Test run: slow
/** Pushes at GitLab: what its branches show, and what its log of events, with its holes, is believed. */
import type { PreviousRead } from '@claimcheck/core/plugin'
import t from 'tap'
import { outcome } from './context.ts'
import { type AtGitLab, atGitLab, type LookOptions, MINUTE, NOON } from './gitlab-fixture.ts'

const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const pushed = ({ look }: AtGitLab, sha: string, given: LookOptions & { branch?: string; pusher?: string } = {}) => {
  const { branch = 'main', pusher, ...options } = given
  return look('codehost.commit.push', { sha, branch, ...(pusher === undefined ? {} : { pusher }) }, options)
}

/** An earlier check of the same claim, at once after it. */
const prompt = (facts = {}): PreviousRead => ({ sentAt: NOON + 1000, observation: { kind: 'absent', facts } })

t.test('the tip of a branch in a project of nested groups', async (t) => {
  const world = await atGitLab(t, { prefix: '/git' })
  const { repository, push, base, requestsOf } = world
  const sha = await repository.commit({ parents: [base] })
  await push('fix/a#1', sha, NOON - MINUTE)
  const requests = await requestsOf(async () => {
    t.match(await pushed(world, sha, { branch: 'fix/a#1', at: NOON + MINUTE, pusher: 'Agent' }), {
      kind: 'present',
      differs: [],
      stays: undefined,
      ageMs: 60_000,
      facts: {
        ...{ repository: 'acme/tools/app', repository_id: String(repository.id), branch_listed: true, head: sha },
        ...{ pushed_at: '2026-09-25T11:59:00.000Z', pusher_matches: true, preexisting: undefined },
      },
    })
  })
  t.strictSame(requests, [
    '',
    '/repository/branches/fix%2Fa%231',
    '/events?action=pushed&sort=desc&after=2026-09-22&per_page=100&page=1',
  ])
})

t.test('a commit in the middle of a push', async (t) => {
  const world = await atGitLab(t)
  const { repository, push, base, requestsOf } = world
  const sha = await repository.commit({ parents: [base] })
  await push('main', await repository.commit({ parents: [sha] }), NOON)
  const requests = await requestsOf(async () => {
    const seen = await pushed(world, sha, { at: NOON + MINUTE, pusher: 'somebody' })
    t.match(seen, {
      kind: 'present',
      differs: [],
      facts: { pushed_at: '2026-09-25T12:00:00.000Z', pusher_matches: false },
    })
  })
  t.equal(requests.length, 5)
})

t.test('a commit that was there long before', async (t) => {
  const world = await atGitLab(t)
  const { base, first, repository, push } = world
  t.match(await pushed(world, base, { at: NOON + MINUTE }), { facts: { preexisting: true } })
  await push('main', await repository.commit({ parents: [base] }), NOON - MINUTE)
  t.match(await pushed(world, base, { at: NOON + MINUTE }), { kind: 'present', facts: { preexisting: true } })
  t.match(await pushed(world, first, { at: NOON + MINUTE }), { kind: 'present', facts: { preexisting: true } })
})

t.test('the log bounds a push from above only, and only as far as its moves join', async (t) => {
  const world = await atGitLab(t)
  const { repository, push, base } = world
  const sha = await repository.commit({ parents: [base] })
  await push('main', sha, NOON + 2 * MINUTE)
  const next = await repository.commit({ parents: [sha] })
  await push('main', next, NOON + 12 * MINUTE)
  repository.answering.logLagMs = 1000
  const at = NOON + 13 * MINUTE
  t.match(await pushed(world, sha, { at }), { stays: [{ appeared: { notAfter: NOON + 2 * MINUTE + 1000 } }] })
  t.notOk('notBefore' in (await pushed(world, sha, { at })).stays![0]!.appeared)

  // The log does not have what brought the branch where it is: what was in between is unknown.
  repository.answering.logLagMs = 5 * MINUTE
  t.equal((await pushed(world, sha, { at })).stays, undefined)
  repository.answering.logLagMs = 0

  // Four branches at once: an event that names none of them.
  const four = ['a', 'b', 'c', 'd'].map((branch) => ({ branch, sha: base }))
  await repository.pushAll(four, { at: NOON + 11 * MINUTE })
  repository.pushes.sort((one, other) => one.at - other.at)
  t.match(await pushed(world, sha, { at }), { stays: [{ appeared: { notAfter: NOON + 12 * MINUTE } }] })
})

t.test('forced away and pushed again: only the stay that lasts is one', async (t) => {
  const world = await atGitLab(t)
  const { repository, push, base } = world
  const sha = await repository.commit({ parents: [base] })
  await push('main', sha, NOON + MINUTE)
  await push('main', base, NOON + 2 * MINUTE, { force: true })
  await push('main', sha, NOON + 14 * MINUTE)
  t.match(await pushed(world, sha, { at: NOON + 14 * MINUTE }), {
    kind: 'present',
    stays: [
      { appeared: { notAfter: NOON + 14 * MINUTE } },
      { appeared: { notAfter: NOON + MINUTE }, removed: { notAfter: NOON + 2 * MINUTE }, removedWhole: false },
    ],
  })
})

t.test('the branch was deleted', async (t) => {
  const world = await atGitLab(t)
  const { repository, push, base, clock } = world
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON - 5 * MINUTE)
  clock.now = NOON - MINUTE
  await repository.deleteBranch('topic')
  t.match(await pushed(world, sha, { branch: 'topic' }), {
    kind: 'absent',
    stays: [{ appeared: { notAfter: NOON - 5 * MINUTE }, removed: { notAfter: NOON - MINUTE }, removedWhole: true }],
    mark: undefined,
    facts: { branch_listed: false, removed_at: '2026-09-25T11:59:00.000Z' },
  })
  // Made again, with another commit: the log goes back over its end.
  await push('topic', base, NOON + 11 * MINUTE)
  t.match(await pushed(world, sha, { branch: 'topic' }), { kind: 'absent', stays: [{ removedWhole: true }] })
})

t.test('a whole log says that a commit never was there', async (t) => {
  const world = await atGitLab(t)
  const { repository, push, base, first } = world
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  t.match(await pushed(world, sha), {
    kind: 'present',
    differs: ['branch'],
    mark: 'never_before',
    facts: { found_on: 'topic' },
  })

  // Commits that GitLab does not know are on none of the tips that it knows.
  const unknown = await repository.commit({ parents: [first] })
  t.match(await pushed(world, unknown, { at: NOON + HOUR }), { kind: 'absent', mark: 'never_before', stays: [] })
})

t.test('a log with a gap says nothing of absence', async (t) => {
  const world = await atGitLab(t)
  const { repository, push, base, settings } = world
  const sha = await repository.commit({ parents: [base] })
  await repository.hold(sha)
  await push('main', await repository.commit({ parents: [base] }), NOON - MINUTE)
  t.match(await pushed(world, sha), { kind: 'absent', mark: 'never_before' }, 'a whole one')

  // Events that are left out of their page.
  settings.hiddenPushes.add(repository.pushes.at(-1)!.id)
  t.match(await pushed(world, sha), { kind: 'absent', mark: 'may_have_been', stays: undefined })
  t.match(await pushed(world, sha, { previous: [prompt()] }), { mark: 'may_have_been' }, 'GitLab knows the commit')

  repository.answering.logStatus = 403
  t.match(await pushed(world, sha), { kind: 'absent', mark: 'may_have_been', stays: undefined })
  repository.answering.logStatus = 500
  t.equal(await outcome(pushed(world, sha)), 'unavailable', 'it may yet show that the commit was there')
  await push('main', sha, NOON + 11 * MINUTE, { force: true })
  t.match(await pushed(world, sha), { kind: 'present', differs: [] }, 'what is there has been seen')
})

t.test('a page that is empty is not the end', async (t) => {
  const world = await atGitLab(t)
  const { repository, base, settings, requestsOf } = world
  const sha = await repository.commit({ parents: [base] })
  await repository.push('main', sha)
  await repository.push('other', base)
  const [, , other] = repository.pushes
  repository.fillLog('other', 250)
  for (const { id } of repository.pushes.slice(repository.pushes.indexOf(other!))) settings.hiddenPushes.add(id)
  const requests = await requestsOf(async () => {
    t.match(await pushed(world, sha, { at: NOON + 11 * MINUTE }), { stays: [{ appeared: { notAfter: NOON } }] })
  })
  t.equal(requests.filter((line) => line.startsWith('/events')).length, 3)
  repository.fillLog('other', 800)
  t.equal((await pushed(world, sha, { at: NOON + 11 * MINUTE })).stays, undefined, 'beyond what is read')
})

t.test('tags and other names are no branches', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const sha = await repository.commit({ parents: [base] })
  await repository.tag('v1', sha)
  t.match(await pushed(world, sha, { branch: 'v1' }), { kind: 'absent', facts: { branch_listed: false } })
  t.match(await pushed(world, base, { branch: base }), { kind: 'present', differs: ['branch'] })
})

t.test('objects that forks share are on no branch', async (t) => {
  const world = await atGitLab(t)
  const { gitlab, repository, base } = world
  const fork = await gitlab.fork(repository, 'mallory/app')
  const sha = await fork.commit({ parents: [base] })
  await fork.push('main', sha)
  t.match(await pushed(world, sha, { previous: [prompt()] }), { kind: 'absent', facts: { found_on: undefined } })
})

t.test('what GitLab never had, and for how long that can be told', async (t) => {
  const world = await atGitLab(t)
  const { repository, base } = world
  const sha = await repository.commit({ parents: [base] })
  // No entry of this branch: only the object tells.
  const absent = (at: number, previous: readonly PreviousRead[] = []) =>
    pushed(world, sha, { branch: 'topic', at, previous })
  t.match(await absent(NOON + 20 * MINUTE), { mark: 'never_before' })
  t.match(await absent(NOON + 31 * MINUTE), { mark: 'never_before' }, 'no event tells of the branch')
  repository.answering.logStatus = 403
  t.match(await absent(NOON + 31 * MINUTE), { mark: 'may_have_been' })
  repository.answering.logStatus = 200
  t.match(await pushed(world, sha, { at: NOON + 2 * DAY }), { mark: 'never_before' }, 'by the log of another branch')
})

t.test('a project that was made after the claim', async (t) => {
  const world = await atGitLab(t, { createdAt: NOON + MINUTE })
  const sha = await world.repository.commit({ parents: [world.base] })
  t.match(await pushed(world, sha), { kind: 'absent', mark: 'may_have_been' })
})

t.test('pushes that an import tells of', async (t) => {
  const world = await atGitLab(t, { createdAt: NOON + 15 * MINUTE })
  const sha = await world.repository.commit({ parents: [world.base] })
  await world.push('main', sha, NOON + 5 * MINUTE)
  const seen = await pushed(world, sha, { at: NOON + 20 * MINUTE })
  t.match(seen, { kind: 'present', differs: [], stays: undefined, facts: { pushed_at: undefined } })
})

t.test('renamed, by its owner and by others', async (t) => {
  const world = await atGitLab(t)
  const { gitlab, repository, base } = world
  gitlab.rename(repository, 'acme/tools/new')
  const target = 'acme/tools/app'
  t.match(await pushed(world, base, { target }), { kind: 'present', facts: { repository: 'acme/tools/new' } })
  gitlab.rename(repository, 'acme/other/new')
  t.equal(await outcome(pushed(world, base, { target: 'acme/tools/new' })), 'ambiguous_claim')
  const owners = ['acme']
  t.match(await pushed(world, base, { target: 'acme/tools/new', options: { owners } }), { kind: 'present' })
  const previous = [prompt({ repository_id: '1' })]
  t.equal(await outcome(pushed(world, base, { previous })), 'ambiguous_claim', 'another project under its name')
})

t.test('pushed while it is read', async (t) => {
  const world = await atGitLab(t)
  const { gitlab, repository, base } = world
  const sha = await repository.commit({ parents: [base] })
  gitlab.faults.beforeNext(/commits\/.*\/refs/, () => repository.push('main', sha))
  t.equal(await outcome(pushed(world, sha)), 'unavailable')
  t.equal(await outcome(pushed(world, sha)), 'as claimed')
})
