// Test run: end-to-end, slow
/** Pull requests at Gitea and Forgejo. */
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { outcome } from './context.ts'
import { atGitea, HOUR, MINUTE, NOON } from './gitea-fixture.ts'

const OPEN = 'codehost.pull_request.open'
const MERGE = 'codehost.pull_request.merge'

/** With a topic branch of one commit, and a pull request of it. */
async function withPull(t: Parameters<typeof atGitea>[0], options: Parameters<typeof atGitea>[1] = {}) {
  const ground = await atGitea(t, options)
  const { repository, base } = ground
  const head = await repository.commit({ parents: [base] })
  await repository.push('topic', head)
  const pulls = repository.pullRequests
  return { ...ground, pulls, head, number: await pulls.open({ head: 'topic' }) }
}

for (const flavour of ['gitea', 'forgejo'] as const) {
  t.test(`an open one, and a merged one, at ${flavour}`, async (t) => {
    const { look, pulls, head, number, clock } = await withPull(t, { flavour })
    t.match(await look(OPEN, { number, base: 'main', head_sha: head }), {
      kind: 'present',
      differs: [],
      facts: { state: 'open', base: 'main', head_sha: head, draft: false, opened_at: '2026-09-25T12:00:00.000Z' },
    })
    t.same((await look(OPEN, { number })).stays, [{ appeared: { notBefore: NOON, notAfter: NOON + 999 } }])
    t.match(await look(MERGE, { number }), { kind: 'absent', mark: 'never_before', facts: { state: 'open' } })
    clock.now = NOON + MINUTE
    const merge_commit = await pulls.merge(number)
    t.match(await look(MERGE, { number, base: 'main', head_sha: head, merge_commit }), {
      kind: 'present',
      differs: [],
      facts: { state: 'merged', merge_commit, merge_commit_on_base: true, head_sha: head },
      stays: [{ appeared: { notBefore: undefined, notAfter: NOON + MINUTE + 999 } }],
    })
  })
}

t.test('what a merged one costs', async (t) => {
  const { look, pulls, number, repository, requests } = await withPull(t)
  await pulls.merge(number)
  const branch = await requests(() => look(MERGE, { number }))
  t.ok(branch.length <= 9, `${branch.length} requests`)
  await repository.deleteBranch('topic')
  const without = await requests(() => look(MERGE, { number }))
  t.ok(without.length <= 6, `${without.length} requests without the branch`)
})

t.test('the head of a merged or closed one is not the tip of its branch', async (t) => {
  const { look, pulls, number, repository, head } = await withPull(t)
  await pulls.merge(number)
  const later = await repository.commit({ parents: [head] })
  await repository.push('topic', later)
  t.match(await look(MERGE, { number, head_sha: head }), { kind: 'present', differs: [], facts: { head_sha: head } })
  t.match(await look(MERGE, { number, head_sha: later }), { kind: 'present', differs: ['head_sha'] })

  const other = await pulls.open({ head: 'topic' })
  pulls.close(other)
  await repository.push('topic', await repository.commit({ parents: [later] }))
  t.match(await look(OPEN, { number: other, head_sha: later }), { differs: [], facts: { state: 'closed' } })
})

t.test('a branch that is called like what the repository keeps', async (t) => {
  const { look, repository, base } = await atGitea(t)
  const head = await repository.commit({ parents: [base] })
  const name = 'refs/pull/1/head'
  await repository.push(name, head)
  const number = await repository.pullRequests.open({ head: name })
  t.equal(number, 1)
  await repository.pullRequests.merge(number)
  const later = await repository.commit({ parents: [head] })
  await repository.push(name, later)
  t.match(await look(MERGE, { number, head_sha: head }), { kind: 'present', differs: [] })
  t.match(await look(MERGE, { number, head_sha: later }), { kind: 'present', differs: ['head_sha'] })
})

t.test("a fork's own pull request of the same number does not lend its head", async (t) => {
  const { look, host, repository, base } = await atGitea(t)
  const fork = await host.fork(repository, 'forker/app')
  const head = await fork.commit({ parents: [base] })
  await fork.push('main', base)
  await fork.push('topic', head)
  const number = await repository.pullRequests.open({ head: 'topic', from: fork })
  const other = await fork.commit({ parents: [base] })
  await fork.push('other', other)
  t.equal(await fork.pullRequests.open({ head: 'other' }), number)
  await repository.pullRequests.merge(number)
  await fork.deleteBranch('topic')
  t.match(await look(MERGE, { number, head_sha: head }), { differs: [], facts: { head_sha: head } })
  host.delete(fork)
  t.match(await look(MERGE, { number, head_sha: head }), { differs: [], facts: { head_sha: head } })
})

t.test('a merge by hand is dated by its closing, not by the date that an author wrote', async (t) => {
  const { look, pulls, number, repository, base, head, ways, clock } = await withPull(t)
  ways.mergingByHand.add(repository)
  const sha = await repository.commit({ parents: [base, head], date: new Date(NOON - HOUR) })
  await repository.push('main', sha)
  clock.now = NOON + 11 * MINUTE
  await pulls.markMerged(number, sha)
  t.match(await look(MERGE, { number }), {
    kind: 'present',
    differs: [],
    facts: { preexisting: undefined },
    stays: [{ appeared: { notBefore: undefined, notAfter: NOON + 11 * MINUTE + 999 } }],
  })
})

t.test('merged by hand as a commit of somebody else, which is on the base', async (t) => {
  const { look, pulls, number, repository, base, ways } = await withPull(t)
  ways.mergingByHand.add(repository)
  await pulls.markMerged(number, base)
  t.equal(await outcome(look(MERGE, { number })), 'ambiguous_claim')
})

t.test('merged by a commit that the base does not have, or has no more', async (t) => {
  const { look, pulls, number, repository, base, ways } = await withPull(t)
  await pulls.merge(number)
  await repository.push('main', base, { force: true })
  const gone = { kind: 'absent', mark: 'may_have_been', facts: { merge_commit_on_base: false } }
  t.match(await look(MERGE, { number }), gone)
  await repository.push('other', base)
  await repository.deleteBranch('main')
  t.match(
    await look(MERGE, { number }),
    { kind: 'present', facts: { state: 'merged', merge_commit_on_base: undefined } },
    'the base is gone, and merges by hand are not allowed',
  )
  ways.mergingByHand.add(repository)
  t.match(await look(MERGE, { number }), { kind: 'present' }, 'it has the files of the pull request')
  ways.mergingByHand.clear()
})

t.test('a number that is none, an issue, was given, or is too high', async (t) => {
  const { look, number, repository, clock } = await withPull(t)
  const issue = repository.issues.open()
  const gone = repository.issues.open()
  repository.issues.delete(gone)
  await repository.pullRequests.open({ head: 'topic' })
  t.match(await look(OPEN, { number: issue }), { kind: 'absent', mark: 'never_before' })
  t.match(await look(OPEN, { number: gone }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(OPEN, { number: number + 9 }), { kind: 'absent', mark: undefined })
  clock.now = NOON + MINUTE
  t.match(
    await look(OPEN, { number: number + 9 }),
    { kind: 'absent', mark: undefined },
    'the rules know how late it is',
  )
})

t.test('times of a repository that was taken over are not its own', async (t) => {
  const { look, number, pulls, repository, ways } = await withPull(t)
  ways.migrated.add(repository)
  t.same((await look(OPEN, { number })).stays, undefined)
  await pulls.merge(number)
  t.same((await look(MERGE, { number })).stays, undefined)
})

t.test('rights, and answers that name something else', async (t) => {
  const { look, host, number, connect, clock } = await withPull(t)
  const hidden = await host.createRepository('acme/secret', { isPrivate: true })
  const tip = await hidden.commit()
  await hidden.push('main', tip)
  await hidden.push('topic', await hidden.commit({ parents: [tip] }))
  await hidden.pullRequests.open({ head: 'topic' })
  host.addToken({ token: 'reader', repositories: [hidden] })
  host.addToken({ token: 'blind', repositories: [hidden], rights: ['contents'] })
  const options = { target: 'acme/secret' }
  const by = (token: string, number: number) =>
    outcome(look(OPEN, { number }, { ...options, connection: connect(token) }))
  t.equal(await by('reader', 1), 'as claimed')
  t.equal(await by('reader', 2), 'absent')
  t.equal(await by('blind', 1), 'forbidden')
  t.equal(await by('blind', 2), 'forbidden')

  const { value } = await answerOf(`${host.url}/repos/acme/app/pulls/${number}`)
  const shown = value as Record<string, Record<string, unknown>>
  const refusals = [
    [{ ...shown, number: number + 1 }, 'unexpected_response'],
    [{ ...shown, base: { ...shown.base, repo_id: 7 } }, 'ambiguous_claim'],
    [{ ...shown, base: { ...shown.base, ref: 'main:refs/heads/x' } }, 'unexpected_response'],
    [{ ...shown, base: { ...shown.base, ref: '--upload-pack=x' } }, 'unexpected_response'],
    [{ ...shown, state: 'merging' }, 'unexpected_response'],
    [{ ...shown, merged: 'yes' }, 'unexpected_response'],
    [{ ...shown, head: { ...shown.head, sha: 'abc123' } }, 'unexpected_response'],
    [{ ...shown, merged: true, merge_commit_sha: 'abc123' }, 'unexpected_response'],
    [{ ...shown, created_at: 'now' }, 'unexpected_response'],
    [[], 'unexpected_response'],
  ] as const
  for (const [body, expected] of refusals) {
    host.faults.inject({ fault: json(body), on: new RegExp(`pulls/${number}$`) })
    t.equal(await outcome(look(OPEN, { number })), expected, JSON.stringify(body).slice(0, 40))
    host.faults.clear()
  }
  host.faults.inject({
    fault: json({ ...shown, merged: true, merge_commit_sha: '' }),
    on: new RegExp(`pulls/${number}$`),
  })
  t.match(await look(MERGE, { number }), { kind: 'absent', mark: 'may_have_been' }, 'merged as nothing')
  host.faults.clear()
  host.faults.inject({ fault: status(404), on: new RegExp(`pulls/${number}$`), times: 1 })
  clock.now = NOON
  t.equal(await outcome(look(OPEN, { number })), 'unavailable', 'the same number is shown as that of a pull request')
})

async function answerOf(url: string): Promise<{ readonly value: unknown }> {
  return { value: await (await fetch(url)).json() }
}

t.test('where the host does not tell whether merges by hand are allowed', async (t) => {
  const { look, repository, pulls, base, ways, clock } = await withPull(t)
  ways.tellsManualMerges = false
  const opened = async (branch: string) => {
    const sha = await repository.commit({ parents: [base], content: branch })
    await repository.push(branch, sha)
    return { sha, number: await pulls.open({ head: branch }) }
  }
  for (const how of ['merge', 'squash', 'rebase'] as const) {
    const { number } = await opened(how)
    clock.now += MINUTE
    const landed = await pulls.merge(number, { how })
    t.match(await look(MERGE, { number, merge_commit: landed }), { differs: [], facts: { merge_commit: landed } }, how)
  }
  const { number, sha } = await opened('by-hand')
  const other = await repository.commit({ parents: [base], content: 'other', date: new Date(clock.now) })
  await repository.push('main', other, { force: true })
  await pulls.markMerged(number, other)
  t.equal(await outcome(look(MERGE, { number })), 'ambiguous_claim', 'other files, and the date of the closing')
  const { number: next } = await opened('by-hand-too')
  const same = await repository.commit({ parents: [base], content: 'by-hand-too', date: new Date(clock.now - HOUR) })
  await repository.push('main', same, { force: true })
  await pulls.markMerged(next, same)
  t.equal(await outcome(look(MERGE, { number: next })), 'ambiguous_claim', 'the same files, and the date of its author')
  await repository.push('other', base)
  await repository.deleteBranch('main')
  t.match(await look(MERGE, { number }), { kind: 'absent', mark: 'may_have_been' }, `nor is it told where ${sha} went`)
})

t.test('the timeline tells whether it had another base or head', async (t) => {
  const { look, repository, pulls, number, base, head, ways, host, clock } = await withPull(t)
  await repository.push('next', base)
  const other = { number, base: 'next' }
  const moved = { number, head_sha: base }
  t.match(await look(OPEN, other), { differs: ['base'], stays: [], mark: undefined })
  t.match(await look(OPEN, moved), { differs: ['head_sha'], stays: [], mark: undefined })
  pulls.retarget(number, 'next')
  t.match(await look(OPEN, { number, base: 'main' }), { differs: ['base'], mark: 'may_have_been' })
  t.match(await look(OPEN, { number, base: 'third' }), { differs: ['base'], stays: [], mark: undefined })
  await repository.push('topic', await repository.commit({ parents: [head] }))
  t.match(await look(OPEN, moved), { differs: ['head_sha'], mark: 'may_have_been' })
  for (let index = 0; index < 2000; index++) pulls.comment(number)
  clock.now = NOON + 11 * MINUTE
  t.match(await look(OPEN, { number, base: 'third' }), { mark: 'may_have_been' }, 'longer than a check reads')
  const late = await pulls.open({ head: 'topic', at: NOON + 2 * MINUTE })
  t.strictSame((await look(OPEN, { number: late, base: 'main' })).stays, [
    { appeared: { notBefore: NOON + 2 * MINUTE, notAfter: NOON + 2 * MINUTE + 999 } },
  ])
  host.faults.inject({ fault: status(403), on: /timeline/, times: 1 })
  t.match(await look(OPEN, { number: late, base: 'next' }), { mark: 'may_have_been' }, 'it may not be read')
  ways.hasTimeline = false
  const without = await look(OPEN, { number: late, base: 'next' })
  t.match(without, { differs: ['base'], mark: undefined, stays: undefined }, 'a server without one')
})
