// Test run: slow
/** Checks at a real git server. */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { status } from '../../../test/destinations/faults.ts'
import { git } from '../../../test/destinations/git.ts'
import { shortened } from '../../../test/support/extent.ts'
import { outcome } from './context.ts'
import { atGitServer } from './git-fixture.ts'

t.test('a commit is on a branch as its tip or as an ancestor of it, without a time', async (t) => {
  const { first, base, look, leftBehind } = await atGitServer(t)
  const seen = { kind: 'present', differs: [], facts: { branch_listed: true, head: base } }
  t.same(await look(base), seen)
  t.same(await look(first), seen)
  t.same(await leftBehind(), [])
})

t.test('a commit that the server gives out although it is on no branch is absent', async (t) => {
  const { server, repository, base, look } = await atGitServer(t)
  const sha = await repository.commit({ parents: [base] })
  await git(repository.folder, ['init', '--quiet', '--bare', 'elsewhere'])
  await git(`${repository.folder}/elsewhere`, ['fetch', '--quiet', `${server.url}/acme/app.git`, sha])
  const facts = { branch_listed: true, head: base }
  t.same(await look(sha), { kind: 'absent', facts, mark: 'may_have_been' })
})

t.test('a commit on another branch is found as its tip, or on the default branch', async (t) => {
  const { repository, base, first, look } = await atGitServer(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.push('topic', sha)
  t.match(await look(sha), { kind: 'present', differs: ['branch'], facts: { found_on: 'topic', head: base } })
  t.match(await look(first, { branch: 'missing' }), {
    kind: 'present',
    differs: ['branch'],
    facts: { found_on: 'main' },
  })
  await repository.setDefaultBranch('nowhere')
  t.equal(await outcome(look(first, { branch: 'missing' })), 'absent', 'a HEAD that names no branch')
})

t.test('other names of a commit are not branches', async (t) => {
  const { repository, base, look } = await atGitServer(t)
  await repository.tag('v1', base)
  await repository.tag('refs/heads/x', base)
  const names = ['v1', 'tags/v1', 'refs/tags/v1', base, 'HEAD', 'x', 'mai', 'Main', '-x', '--upload-pack=x']
  for (const branch of shortened(names)) {
    t.equal(await outcome(look(base, { branch })), 'differs: branch', branch)
  }
  const object = await repository.tag('v2', base, { annotated: true })
  t.equal(await outcome(look(object)), 'absent', "an annotated tag's id is not the commit's")
})

t.test('a branch may have any name that git allows', async (t) => {
  const { repository, base, first, look } = await atGitServer(t)
  const names = ['feature/a/b', '100%', 'a%2Fb', 'zweig-ü', '枝/😀', 'a#b', "it's", 'a"b', 'a;b', '$(x)', 'refs/tags/y']
  for (const branch of shortened(names)) {
    await repository.push(branch, base)
    t.equal(await outcome(look(base, { branch })), 'as claimed', branch)
    t.equal(await outcome(look(first, { branch })), 'as claimed', branch)
  }
})

t.test('in an empty repository a commit is absent', async (t) => {
  const { server, base, look } = await atGitServer(t)
  await server.createRepository('acme/empty')
  const facts = { branch_listed: false }
  t.same(await look(base, { target: 'acme/empty' }), { kind: 'absent', facts, mark: 'never_before' })
})

t.test('a repository that cannot be seen is never evidence', async (t) => {
  const { server, base, look, connect } = await atGitServer(t)
  const credentials = { username: 'reader', password: 'open sesame' }
  const hidden = await server.createRepository('acme/secret', { credentials })
  const sha = await hidden.commit()
  await hidden.push('main', sha)
  const target = 'acme/secret'

  t.equal(await outcome(look(base, { target: 'acme/missing' })), 'forbidden')
  t.equal(await outcome(look(sha, { target })), 'unauthorized', 'no credentials')
  t.equal(await outcome(look(sha, { target, connection: connect({ ...credentials, password: 'x' }) })), 'unauthorized')
  t.equal(await outcome(look(sha, { target, connection: connect(credentials) })), 'as claimed')
  t.equal(await outcome(look(base, { target, connection: connect(credentials) })), 'absent')
  await server.delete('acme/app')
  t.equal(await outcome(look(base)), 'forbidden', 'deleted')
})

t.test('a renamed repository is the same repository', async (t) => {
  const { server, first, look } = await atGitServer(t)
  await server.rename('acme/app', 'acme/new-name')
  t.match(await look(first), { kind: 'present', differs: [], facts: { repository: 'acme/new-name' } })
})

t.test("a redirect to another owner's repository is ambiguous, but through a connection for both", async (t) => {
  const { server, first, look, connect } = await atGitServer(t)
  await server.rename('acme/app', 'other/new-name')
  t.equal(await outcome(look(first)), 'ambiguous_claim')
  t.equal(await outcome(look(first, { connection: connect({ owners: ['acme'] }) })), 'ambiguous_claim')
  const connection = connect({ owners: ['Acme', 'Other'] })
  t.match(await look(first, { connection }), { differs: [], facts: { repository: 'other/new-name' } })
})

t.test('a repository whose address has no `.git` can be read', async (t) => {
  const { server, look } = await atGitServer(t)
  const plain = await server.createRepository('acme/azure', { isPlain: true })
  const sha = await plain.commit({ content: 'hello\n' })
  await plain.push('main', await plain.commit({ parents: [sha] }))
  const target = 'acme/azure'
  t.match(await look(sha, { target }), { kind: 'present', facts: { repository: undefined } })
  t.equal(await outcome(look('0'.repeat(40), { target })), 'absent')
  server.faults.inject({ fault: status(503), on: /azure\.git/, times: 1 })
  const before = server.requests.length
  t.equal(await outcome(look(sha, { target })), 'unavailable', 'a server that fails is not asked by another name')
  t.equal(server.requests.length - before, 1)
  t.equal(await outcome(look(sha, { target: 'acme/nothing' })), 'forbidden')
})

t.test('an old server without partial clones can be read', async (t) => {
  const { server, look } = await atGitServer(t)
  const plain = await server.createRepository('acme/plain', { filters: false, protocolVersion: 0 })
  const sha = await plain.commit({ content: 'hello\n' })
  await plain.push('main', await plain.commit({ parents: [sha] }))
  t.equal(await outcome(look(sha, { target: 'acme/plain' })), 'as claimed')
  t.equal(await outcome(look('0'.repeat(40), { target: 'acme/plain' })), 'absent')
})

t.test('a check that comes while the history is fetched does not fetch it again', async (t) => {
  const { server, first, base, repository, look } = await atGitServer(t)
  await repository.push('main', await repository.commit({ parents: [base] }))
  const POST = /POST .*git-upload-pack/
  let second: Promise<string> | undefined
  server.faults.beforeNext(POST, () => {})
  // The tip is known; now the first check begins to fetch.
  server.faults.beforeNext(POST, async () => {
    second = outcome(look(base))
    await setTimeout(300)
  })
  t.equal(await outcome(look(first)), 'as claimed')
  t.equal(await second, 'as claimed')
  t.equal(server.requests.filter((request) => POST.test(request)).length, 3, 'two questions for the tip, and one fetch')
})
