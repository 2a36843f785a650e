// Test run: end-to-end, slow
/** Releases and issues at Gitea and Forgejo. */
import t from 'tap'
import { json, status } from '../../../test/destinations/faults.ts'
import { outcome } from './context.ts'
import { atGitea, HOUR, MINUTE, NOON } from './gitea-fixture.ts'

const RELEASE = 'codehost.release.publish'
const CLOSE = 'codehost.issue.close'

for (const flavour of ['gitea', 'forgejo'] as const) {
  t.test(`a release, its commit and its files, at ${flavour}`, async (t) => {
    const { look, repository, base, requests } = await atGitea(t, { flavour })
    await repository.tag('app/v1', base, { annotated: true })
    const id = await repository.releases.create({ tag: 'app/v1', prerelease: true })
    repository.releases.addAsset(id, 'app.zip')
    const claimed = { tag: 'app/v1', commit: base, assets: ['app.zip'] }
    t.match(await look(RELEASE, claimed), { kind: 'present', differs: [], facts: { commit: base, prerelease: true } })
    t.same(await requests(() => look(RELEASE, claimed)), ['GET ', 'GET /releases/tags/app%2Fv1', 'GET /tags/app/v1'])
    t.match(await look(RELEASE, { ...claimed, assets: ['app.deb'] }), { differs: ['assets'] })
  })

  t.test(`an issue, at ${flavour}`, async (t) => {
    const { look, repository, requests } = await atGitea(t, { flavour })
    const number = repository.issues.open()
    t.match(await look(CLOSE, { number }), { kind: 'absent', facts: { state: 'open' } })
    repository.issues.close(number, { shownAt: NOON - HOUR })
    const closed = await look(CLOSE, { number })
    t.match(closed, { kind: 'present', differs: [], facts: { state: 'closed', closed_at: undefined } })
    t.same(closed.stays, undefined, 'people choose the time at Forgejo')
    t.equal((await requests(() => look(CLOSE, { number }))).length, 2)
    t.match(await look(CLOSE, { number, reason: 'completed' }), { differs: ['reason'], mark: 'may_have_been' })
  })
}

t.test('the time of a release counts where it is its own', async (t) => {
  const { look, repository, base, ways } = await atGitea(t)
  await repository.tag('v1', base, { annotated: true })
  await repository.releases.create({ tag: 'v1', at: NOON + MINUTE, releasedAt: NOON - HOUR })
  t.same((await look(RELEASE, { tag: 'v1' })).stays, undefined, 'the date that the author of the tag wrote')
  ways.publishesTimes = true
  const stays = [{ appeared: { notAfter: NOON + MINUTE + 999 } }]
  t.same((await look(RELEASE, { tag: 'v1' })).stays, stays)
  ways.migrated.add(repository)
  t.same((await look(RELEASE, { tag: 'v1' })).stays, undefined, 'of another place')
})

t.test('no release: a tag alone, a draft, another case, nothing', async (t) => {
  const { look, repository, base, clock } = await atGitea(t)
  await repository.tag('v1', base)
  const none = { kind: 'absent', mark: undefined }
  t.match(await look(RELEASE, { tag: 'v1' }), none)
  const draft = await repository.releases.create({ tag: 'v1', draft: true })
  t.match(await look(RELEASE, { tag: 'v1' }), none)
  await repository.releases.publish(draft)
  t.match(await look(RELEASE, { tag: 'v1' }), { kind: 'present' })
  t.equal(await outcome(look(RELEASE, { tag: 'V1' })), 'unexpected_response')
  await repository.deleteTag('v1')
  t.match(await look(RELEASE, { tag: 'v1', commit: base }), { differs: ['commit'], mark: 'may_have_been' })
  clock.now = NOON + MINUTE
  t.match(await look(RELEASE, { tag: 'v2' }), { kind: 'absent', mark: undefined }, 'the rules know how late it is')
})

t.test('a release that the list has, and its own address has not', async (t) => {
  const { look, repository, base, host } = await atGitea(t)
  await repository.tag('app/v1', base)
  const id = await repository.releases.create({ tag: 'app/v1', draft: true })
  host.faults.inject({ fault: status(404), on: /%2F/ })
  t.match(await look(RELEASE, { tag: 'app/v1' }), { kind: 'absent' }, 'a draft')
  await repository.releases.publish(id)
  t.equal(await outcome(look(RELEASE, { tag: 'app/v1' })), 'unavailable')
})

t.test('an issue that is deleted, too high, or a pull request', async (t) => {
  const { look, repository, base, clock } = await atGitea(t)
  const number = repository.issues.open()
  const newest = repository.issues.open()
  repository.issues.delete(number)
  t.match(await look(CLOSE, { number }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(CLOSE, { number: newest + 7 }), { kind: 'absent', mark: 'may_have_been' })
  t.match(await look(CLOSE, { number: newest + 51 }), { kind: 'absent', mark: undefined })
  await repository.push('topic', base)
  const pull = await repository.pullRequests.open({ head: 'topic' })
  repository.pullRequests.close(pull)
  t.equal(await outcome(look(CLOSE, { number: pull })), 'ambiguous_claim')
  clock.now = NOON + MINUTE
  t.match(await look(CLOSE, { number: newest + 51 }), { mark: 'may_have_been' }, 'so many after a pull request')
  t.match(await look(CLOSE, { number: pull + 51 }), { kind: 'absent', mark: undefined })
})

t.test('rights, and answers that name something else', async (t) => {
  const { look, repository, base, host, connect } = await atGitea(t)
  const number = repository.issues.open()
  await repository.releases.create({ tag: 'v1' })
  t.equal(await outcome(look(CLOSE, { number: number + 1 })), 'absent')
  repository.issues.delete(number)
  t.equal(await outcome(look(CLOSE, { number })), 'forbidden', 'an empty list shows no right')

  const hidden = await host.createRepository('acme/secret', { isPrivate: true })
  const tip = await hidden.commit()
  await hidden.push('main', tip)
  hidden.issues.close(hidden.issues.open())
  host.addToken({ token: 'blind', repositories: [hidden], contents: false, rights: ['pull_requests'] })
  const options = { target: 'acme/secret', connection: connect('blind') }
  t.equal(await outcome(look(CLOSE, { number: 1 }, options)), 'forbidden')
  t.equal(await outcome(look(CLOSE, { number: 2 }, options)), 'forbidden')
  t.equal(await outcome(look(RELEASE, { tag: 'v1' }, options)), 'forbidden')

  const issue = { number: 2, state: 'closed', repository: { id: repository.id }, pull_request: null }
  const release = { tag_name: 'v1', draft: false, prerelease: false, created_at: '2026-09-25T12:00:00Z' }
  const refusals = [
    [CLOSE, { number: 2 }, /issues\/2$/, { ...issue, number: 3 }, 'unexpected_response'],
    [CLOSE, { number: 2 }, /issues\/2$/, { ...issue, repository: { id: 7 } }, 'ambiguous_claim'],
    [CLOSE, { number: 2 }, /issues\/2$/, { ...issue, state: 'done' }, 'unexpected_response'],
    [RELEASE, { tag: 'v1' }, /releases\/tags/, { ...release, tag_name: 'v2' }, 'unexpected_response'],
    [RELEASE, { tag: 'v1' }, /releases\/tags/, { ...release, created_at: 7 }, 'unexpected_response'],
    [RELEASE, { tag: 'v1' }, /releases\/tags/, { ...release, assets: ['x'] }, 'unexpected_response'],
    [RELEASE, { tag: 'v1' }, /\/tags\/v1$/, { name: 'v2', commit: { sha: base } }, 'unexpected_response'],
    [RELEASE, { tag: 'v1' }, /\/tags\/v1$/, { name: 'v1', commit: { sha: base.slice(0, 8) } }, 'unexpected_response'],
  ] as const
  for (const [action, params, on, body, expected] of refusals) {
    const path = on.source === '\\/tags\\/v1$' ? /app\/tags\/v1$/ : on
    host.faults.inject({ fault: json(body), on: path })
    t.equal(await outcome(look(action, params)), expected, JSON.stringify(body))
    host.faults.clear()
  }
})

t.test('the timeline tells whether an issue was closed and opened again', async (t) => {
  const { look, repository, host, clock } = await atGitea(t)
  const number = repository.issues.open()
  t.match(await look(CLOSE, { number }), { kind: 'absent', stays: [], mark: undefined })
  repository.issues.close(number, { at: NOON - 3 * HOUR })
  repository.issues.reopen(number, { at: NOON - 3 * HOUR })
  t.match(await look(CLOSE, { number }), { kind: 'absent', stays: [], mark: undefined }, 'before the window')
  repository.issues.close(number)
  repository.issues.reopen(number)
  t.match(await look(CLOSE, { number }), { kind: 'absent', stays: undefined, mark: 'may_have_been' })
  const other = repository.issues.open()
  host.faults.inject({ fault: status(403), on: /timeline/, times: 1 })
  clock.now = NOON + 11 * MINUTE
  t.match(await look(CLOSE, { number: other }), { kind: 'absent', mark: 'may_have_been' })
  host.faults.inject({ fault: status(500), on: /timeline/, times: 1 })
  t.equal(await outcome(look(CLOSE, { number: other })), 'unavailable')
})
