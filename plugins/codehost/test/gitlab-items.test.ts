// Test run: slow
/** Merge requests, issues and releases at GitLab: their states, their times, and what it means that there is none. */
import t from 'tap'
import { status } from '../../../test/destinations/faults.ts'
import { outcome } from './context.ts'
import { atGitLab, MINUTE, NOON } from './gitlab-fixture.ts'

const MERGE = 'codehost.pull_request.merge'
const OPEN = 'codehost.pull_request.open'
const CLOSE = 'codehost.issue.close'
const RELEASE = 'codehost.release.publish'
const HOUR = 60 * MINUTE

t.test('merges of every kind', async (t) => {
  const { repository, base, look, requestsOf } = await atGitLab(t)
  for (const how of ['merge', 'squash', 'squash-merge', 'fast-forward', 'rebase'] as const) {
    const [head, into] = [`${how}-topic`, `${how}-base`]
    await repository.push(head, await repository.commit({ parents: [base] }))
    await repository.push(into, base)
    const number = await repository.pullRequests.open({ head, base: into })
    t.match(await look(MERGE, { number }), { kind: 'absent', mark: 'never_before', facts: { state: 'open' } })
    const landed = await repository.pullRequests.merge(number, { how, at: NOON + MINUTE })
    const requests = await requestsOf(async () => {
      const seen = await look(MERGE, { number, base: into, merge_commit: landed })
      t.match(seen, {
        kind: 'present',
        differs: [],
        stays: [{ appeared: { notAfter: NOON + MINUTE } }],
        facts: { state: 'merged', merge_commit: landed, merge_commit_on_base: true, base: into },
      })
      t.notOk('notBefore' in seen.stays![0]!.appeared, 'written down after the merge')
    })
    t.strictSame(requests, ['', `/merge_requests/${number}`, `/repository/branches/${into}`], how)
    const { squashCommit } = repository.pullRequests.get(number, NOON + MINUTE)!
    if (squashCommit === undefined) continue
    t.match(await look(MERGE, { number, merge_commit: squashCommit }), { kind: 'present', differs: [] }, how)
    const other = { kind: 'present', differs: ['merge_commit'], mark: 'final' }
    t.match(await look(MERGE, { number, merge_commit: base }), other, 'no other commit')
  }
})

t.test('merged, and not on its base any more', async (t) => {
  const { repository, base, look, push } = await atGitLab(t)
  await push('topic', await repository.commit({ parents: [base] }), NOON)
  await push('release', base, NOON)
  const number = await repository.pullRequests.open({ head: 'topic', base: 'release' })
  const landed = await repository.pullRequests.merge(number)
  await push('release', await repository.commit({ parents: [landed] }), NOON + MINUTE)
  t.match(await look(MERGE, { number }), { kind: 'present', facts: { merge_commit_on_base: true } })
  await push('release', base, NOON + 2 * MINUTE, { force: true })
  const gone = { kind: 'absent', mark: 'may_have_been', facts: { state: 'merged', merge_commit_on_base: false } }
  t.match(await look(MERGE, { number }), gone)
  await repository.deleteBranch('release')
  t.match(
    await look(MERGE, { number, base: 'release' }),
    { kind: 'present', differs: [], facts: { state: 'merged', merge_commit_on_base: undefined } },
    'GitLab alone says that it is merged',
  )
})

t.test('opened, closed, being merged', async (t) => {
  const { repository, base, look, push, requestsOf } = await atGitLab(t)
  const sha = await repository.commit({ parents: [base] })
  await push('topic', sha, NOON)
  const number = await repository.pullRequests.open({ head: 'topic', draft: true, at: NOON + MINUTE })
  const params = { number, base: 'main', head_sha: sha }
  const openedAt = NOON + MINUTE
  const requests = await requestsOf(async () => {
    t.match(await look(OPEN, { number }), {
      kind: 'present',
      differs: [],
      stays: [{ appeared: { notBefore: openedAt, notAfter: openedAt } }],
      facts: { state: 'open', draft: true, head_sha: sha, opened_at: '2026-09-25T12:01:00.000Z' },
    })
  })
  t.equal(requests.length, 2)
  t.match(await look(OPEN, params), { kind: 'present', differs: [] })
  t.match(await look(OPEN, { ...params, base: 'other' }), { differs: ['base'], stays: [] }, 'one version: it never was')
  repository.pullRequests.beginMerge(number)
  t.equal(await outcome(look(OPEN, params)), 'unavailable')
  t.equal(await outcome(look(MERGE, { number })), 'unavailable')
  await repository.pullRequests.merge(number)
  t.match(await look(OPEN, params), { kind: 'present', facts: { state: 'merged' } })
  const second = await repository.pullRequests.open({ head: 'topic' })
  repository.pullRequests.close(second)
  t.match(await look(MERGE, { number: second }), { kind: 'absent', mark: 'never_before', facts: { state: 'closed' } })
})

t.test('what an import brought has no times of its own', async (t) => {
  const { repository, base, look, push, settings } = await atGitLab(t)
  await push('topic', await repository.commit({ parents: [base] }), NOON)
  const number = await repository.pullRequests.open({ head: 'topic', at: NOON + MINUTE })
  const old = await repository.pullRequests.open({ head: 'topic', at: repository.createdAt - 1 })
  t.equal((await look(OPEN, { number: old })).stays, undefined, 'from before the project was made')
  settings.isImported = true
  t.equal((await look(OPEN, { number })).stays, undefined)
  await repository.pullRequests.merge(number)
  t.equal((await look(MERGE, { number })).stays, undefined)
})

t.test('a project that was made after the claim may be another one than was claimed', async (t) => {
  const { repository, base, look, push, clock } = await atGitLab(t, { createdAt: NOON + 15 * MINUTE })
  await push('topic', await repository.commit({ parents: [base] }), NOON + 16 * MINUTE)
  const number = await repository.pullRequests.open({ head: 'topic' })
  const issue = repository.issues.open()
  clock.now = NOON + 20 * MINUTE
  t.match(await look(MERGE, { number }), { kind: 'absent', mark: 'may_have_been', facts: { state: 'open' } })
  t.match(await look(MERGE, { number: number + 7 }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(CLOSE, { number: issue + 7 }), { kind: 'absent', mark: 'may_have_been' })
  const opened = await look(OPEN, { number })
  t.strictSame(opened.stays, [{ appeared: { notAfter: NOON + 16 * MINUTE } }], 'no evidence of being late')
  await repository.pullRequests.merge(number, { at: NOON + 5 * MINUTE })
  t.match(
    await look(MERGE, { number }),
    { kind: 'present', stays: undefined },
    'a time from before there was a project',
  )
})

t.test('a merge request that there is not', async (t) => {
  const { gitlab, repository, base, look, push, settings } = await atGitLab(t)
  t.match(await look(MERGE, { number: 51 }), { kind: 'absent', mark: 'never_before' }, 'of none')
  t.match(await look(MERGE, { number: 2 }), { kind: 'absent', mark: 'may_have_been' }, 'both may be hidden')
  await push('topic', await repository.commit({ parents: [base] }), NOON)
  await repository.pullRequests.open({ head: 'topic' })
  t.match(await look(MERGE, { number: 3 }), { kind: 'absent', mark: 'never_before' })
  // The newest may have been deleted by an owner.
  t.match(await look(MERGE, { number: 2 }), { kind: 'absent', mark: undefined })
  t.match(await look(MERGE, { number: 1 }, { at: NOON + 1000, claimedAt: NOON + 10 * MINUTE }), {
    mark: 'never_before',
  })
  gitlab.addToken({ token: 'glpat-no-merge-requests', repositories: [repository], rights: ['contents', 'issues'] })
  const options = { token: 'glpat-no-merge-requests' }
  t.equal(await outcome(look(MERGE, { number: 3 }, { options })), 'forbidden')
  settings.off.add('merge_requests')
  t.equal(await outcome(look(MERGE, { number: 3 })), 'forbidden')
})

t.test('issues', async (t) => {
  const { gitlab, repository, look, settings, requestsOf } = await atGitLab(t)
  const { issues } = repository
  const [open, closed, duplicate, hidden, gone, moved] = Array.from({ length: 6 }, () => issues.open())
  // Owners may write any time.
  issues.close(closed!, { shownAt: NOON - 100 * HOUR })
  issues.close(duplicate!, { reason: 'duplicate' })
  issues.delete(gone!)
  settings.confidential.add(hidden!)
  const requests = await requestsOf(async () => {
    t.match(await look(CLOSE, { number: closed! }), {
      kind: 'present',
      differs: [],
      stays: undefined,
      facts: { state: 'closed', closed_at: undefined, preexisting: undefined, closed_as: undefined },
    })
  })
  t.equal(requests.length, 3, 'since when, its changes of state might tell')
  const still = await look(CLOSE, { number: open! })
  t.match(still, { kind: 'absent', stays: [], mark: undefined, facts: { state: 'open' } })
  t.match(await look(CLOSE, { number: duplicate!, reason: 'duplicate' }), { kind: 'present', differs: [] })
  const completed = await look(CLOSE, { number: closed!, reason: 'completed' })
  t.match(completed, { differs: ['reason'], mark: 'may_have_been' }, 'GitLab has no such reason')
  t.match(await look(CLOSE, { number: gone! }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(CLOSE, { number: hidden! }), { kind: 'absent', facts: { state: 'open' } })
  t.match(await look(CLOSE, { number: 8 }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(CLOSE, { number: 80 }), { kind: 'absent', mark: 'never_before' })

  const elsewhere = await gitlab.createRepository('acme/tools/other')
  issues.transfer(moved!, elsewhere)
  t.equal(await outcome(look(CLOSE, { number: moved! })), 'ambiguous_claim')

  settings.role = 10
  t.equal(await outcome(look(CLOSE, { number: hidden! })), 'forbidden', 'a Guest does not see confidential ones')
  t.equal(await outcome(look(CLOSE, { number: 8 })), 'forbidden')
  settings.role = 20
  settings.off.add('issues')
  t.equal(await outcome(look(CLOSE, { number: 8 })), 'forbidden')
})

t.test('releases', async (t) => {
  const { repository, base, first, look, clock, requestsOf } = await atGitLab(t)
  const { releases } = repository
  clock.now = NOON + MINUTE
  const id = await releases.create({ tag: 'v1/a', target: base })
  releases.addAsset(id, 'app.tar.gz')
  const requests = await requestsOf(async () => {
    t.match(await look(RELEASE, { tag: 'v1/a' }), {
      kind: 'present',
      differs: [],
      stays: [{ appeared: { notAfter: NOON + MINUTE } }],
      facts: { commit: base, prerelease: false, published_at: '2026-09-25T12:01:00.000Z' },
    })
  })
  t.strictSame(requests, ['', '/releases/v1%2Fa', '/repository/tags/v1%2Fa'])
  t.match(await look(RELEASE, { tag: 'v1/a', assets: ['app.tar.gz'] }), { differs: [], stays: undefined })
  t.match(await look(RELEASE, { tag: 'v1/a', assets: ['x'] }), { differs: ['assets'], facts: { assets_missing: 1 } })
  releases.addAsset(id, 'Linux, 64 bits', { file: 'größe (amd64).deb' })
  for (const name of ['Linux, 64 bits', 'größe (amd64).deb'])
    t.match(await look(RELEASE, { tag: 'v1/a', assets: [name] }), { differs: [] }, name)

  // The release goes on to name the commit that it was made of.
  await repository.tag('v1/a', first, { annotated: true })
  t.match(await look(RELEASE, { tag: 'v1/a', commit: base }), { differs: ['commit'], facts: { commit: first } })
  await repository.deleteTag('v1/a')
  t.match(await look(RELEASE, { tag: 'v1/a', commit: base }), { differs: ['commit'], mark: 'may_have_been' })

  await repository.tag('bare', base)
  t.match(await look(RELEASE, { tag: 'bare' }), { kind: 'absent', ageMs: 60_000 }, 'a tag is no release')
  t.match(await look(RELEASE, { tag: 'none' }), { kind: 'absent', ageMs: 10_000 }, 'and without one there is none')
  await releases.create({ tag: 'old', releasedAt: NOON - 100 * HOUR })
  const historical = await look(RELEASE, { tag: 'old' })
  t.match(historical, { kind: 'present', stays: undefined, facts: { published_at: undefined } })
  await releases.create({ tag: 'soon', releasedAt: NOON + 100 * HOUR })
  t.match(await look(RELEASE, { tag: 'soon' }), { kind: 'absent', mark: 'may_have_been' })
})

t.test('the changes of state of an issue forbid blame, and have no times that count', async (t) => {
  const { gitlab, repository, look } = await atGitLab(t, { isPrivate: false })
  const number = repository.issues.open()
  t.match(await look(CLOSE, { number }), { kind: 'absent', stays: [], mark: undefined })
  repository.issues.close(number, { at: NOON, shownAt: NOON - 100 * HOUR })
  repository.issues.reopen(number, { at: NOON, shownAt: NOON - 100 * HOUR })
  const dated = await look(CLOSE, { number })
  t.match(dated, { kind: 'absent', stays: undefined, mark: undefined }, 'dated back: that proves nothing')
  repository.issues.close(number)
  repository.issues.reopen(number)
  t.match(await look(CLOSE, { number }), { kind: 'absent', stays: undefined, mark: 'may_have_been' })
  for (const code of [403, 404]) {
    gitlab.faults.inject({ fault: status(code), on: /state_events/, times: 1 })
    t.match(await look(CLOSE, { number }), { kind: 'absent', mark: 'may_have_been' })
  }
  const options = { token: undefined } as never
  const without = await look(CLOSE, { number }, { options })
  t.match(without, { kind: 'absent', stays: undefined, mark: undefined }, 'without a token there is no log')
})

t.test('the versions of a merge request tell its heads, and whether it ever changed', async (t) => {
  const { gitlab, repository, base, look, push } = await atGitLab(t)
  const head = await repository.commit({ parents: [base] })
  await push('topic', head, NOON)
  await push('next', base, NOON)
  const number = await repository.pullRequests.open({ head: 'topic', at: NOON + MINUTE })
  const stays = [{ appeared: { notBefore: NOON + MINUTE, notAfter: NOON + MINUTE } }]
  const late = { at: NOON + 11 * MINUTE }
  t.match(await look(OPEN, { number, base: 'main', head_sha: head }, late), { differs: [], stays })
  t.match(await look(OPEN, { number, head_sha: base }), { differs: ['head_sha'], stays: [] })
  const next = await repository.commit({ parents: [head] })
  await push('topic', next, NOON + 2 * MINUTE)
  t.match(await look(OPEN, { number, head_sha: head }), { differs: ['head_sha'], mark: 'may_have_been' })
  t.match(await look(OPEN, { number, head_sha: base }), { differs: ['head_sha'], stays: [], mark: undefined })
  t.match(await look(OPEN, { number, base: 'next' }), { differs: ['base'], stays: [] }, 'no note tells of another base')
  t.match(await look(OPEN, { number, base: 'main' }, late), { differs: [], stays })
  gitlab.faults.inject({ fault: status(403), on: /notes/, times: 2 })
  t.match(await look(OPEN, { number, base: 'next' }), { differs: ['base'], mark: 'may_have_been' })
  t.match(await look(OPEN, { number, base: 'main' }, late), { differs: [], stays: undefined })
  gitlab.faults.inject({ fault: status(403), on: /versions/, times: 1 })
  t.match(await look(OPEN, { number, head_sha: base }, late), { differs: ['head_sha'], mark: 'may_have_been' })
  const old = await repository.pullRequests.open({ head: 'topic', at: NOON - 4 * HOUR })
  repository.pullRequests.retarget(old, 'next', { at: NOON - 3 * HOUR })
  const long = await look(OPEN, { number: old, base: 'main' })
  t.match(long, { differs: ['base'], stays: [], mark: undefined }, 'changed before the window')
})

t.test('the notes of a merge request tell a target that changed while it was closed or merged', async (t) => {
  const { gitlab, repository, base, look, push } = await atGitLab(t)
  await push('topic', await repository.commit({ parents: [base] }), NOON)
  for (const branch of ['next', 'other']) await push(branch, base, NOON)
  const late = { at: NOON + 13 * MINUTE }
  const { pullRequests } = repository
  const closed = await pullRequests.open({ head: 'topic', base: 'next', at: NOON })
  pullRequests.close(closed, { at: NOON + MINUTE })
  pullRequests.retarget(closed, 'main', { at: NOON + 12 * MINUTE })
  const retargeted = await look(OPEN, { number: closed, base: 'main' }, late)
  t.match(retargeted, { differs: [], stays: [{ appeared: { notAfter: NOON + 12 * MINUTE } }] })
  t.match(await look(OPEN, { number: closed, base: 'next' }, late), { differs: ['base'], mark: 'may_have_been' })
  t.match(await look(OPEN, { number: closed, base: 'other' }, late), { differs: ['base'], stays: [], mark: undefined })
  gitlab.faults.inject({ fault: status(404), on: /notes/, times: 1 })
  t.match(await look(OPEN, { number: closed, base: 'main' }, late), { differs: [], stays: undefined })

  const merged = await pullRequests.open({ head: 'topic', base: 'next', at: NOON })
  await pullRequests.merge(merged, { how: 'fast-forward', at: NOON + MINUTE })
  pullRequests.retarget(merged, 'main', { at: NOON + 2 * MINUTE })
  t.match(await look(MERGE, { number: merged, base: 'next' }), { differs: [], facts: { base: 'next' } })
  t.match(await look(MERGE, { number: merged, base: 'main' }), { differs: ['base'], mark: 'final' })
  gitlab.faults.inject({ fault: status(404), on: /notes/, times: 2 })
  t.match(await look(MERGE, { number: merged, base: 'main' }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(MERGE, { number: merged, base: 'next' }), { kind: 'absent', mark: 'may_have_been' })
  const commented = await pullRequests.open({ head: 'topic', base: 'other', at: NOON })
  await pullRequests.merge(commented, { at: NOON + MINUTE })
  pullRequests.comment(commented, { at: NOON + 2 * MINUTE })
  t.match(await look(MERGE, { number: commented, base: 'other' }), { differs: [] })
  gitlab.faults.inject({ fault: status(404), on: /notes/, times: 1 })
  t.match(await look(MERGE, { number: commented, base: 'other' }), { differs: [] }, 'the push of the merge tells it')
})
