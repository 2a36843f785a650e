/** The plugin's parts: its profile, connection types and options. */

import { isPlugin, isSecret } from '@claimcheck/core/hosting'
import type { JsonObject } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { status } from '../../../test/destinations/faults.ts'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { GitServer } from '../../../test/destinations/git-server.ts'
import { claimOf } from './claim.ts'
import { check, createContext, outcome, probe as probeWith, setUp } from './context.ts'

const SHA = '0123456789abcdef0123456789abcdef01234567'

t.test('the package is a plugin, and offers its action through all providers', async (t) => {
  t.ok(isPlugin(codehost))
  const { verifier, connections } = await setUp()
  t.equal(verifier.profile.action, 'codehost.commit.push')
  t.same(verifier.providers, ['github', 'gitlab', 'gitea', 'bitbucket', 'bitbucket-server', 'git'])
  t.same([...connections.keys()], ['github', 'gitlab', 'gitea', 'bitbucket', 'bitbucket-server', 'git'])
  t.same(verifier.profile.aliases, { 'github.commit.push': { providers: ['github'] } })
})

t.test('targets and params follow the rules of code hosts and of git', async (t) => {
  const { verifier } = await setUp()
  const { target, params } = verifier.profile
  const ajv = new Ajv2020({ strict: true, strictTypes: false, keywords: ['x-pattern-help'] })
  const isTarget = ajv.compile(target)
  const isParams = ajv.compile(params)
  const isBranch = (branch: string) => isParams({ sha: SHA, branch })
  const isSha = (sha: string) => isParams({ sha, branch: 'main' })
  const isHost = (host: string) => isParams({ sha: SHA, branch: 'main', host })

  t.same(
    ['acme/app', 'acme/tools/app', 'A-1/b_c.d-e', 'acme/.github', 'a/-b', '_x/y'].filter((slug) => !isTarget(slug)),
    [],
  )
  const wrongShapes = [
    '',
    'acme',
    'acme/',
    '/app',
    'acme//app',
    'acme/../app',
    'acme/..',
    'acme/.',
    '../app',
    '-a/b',
    'acme/app.git',
  ]
  const wrongCharacters = ['a b/c', 'ä/b', 'a/b\n', 'a/b?x', 'a/b#x', 'a/%2e', 'a/b\u0000']
  t.same(
    [...wrongShapes, ...wrongCharacters].filter((slug) => isTarget(slug)),
    [],
  )

  const branches = ['main', 'feature/x', 'a.b', 'x@y', '100%', 'zweig-ü', '😀', 'a./b', 'refs/tags/main', SHA]
  t.same(
    branches.filter((branch) => !isBranch(branch)),
    [],
  )
  const otherThings = [
    '',
    '-x',
    '@',
    'refs/heads/main',
    'user:main',
    '..',
    'a..b',
    '../main',
    'a~1',
    'a^',
    'a@{1}',
    'a\u2028..b',
  ]
  const wrongParts = ['.a', 'a/.b', '/a', 'a/', 'a//b', 'a.', 'a.lock', 'a.lock/b', 'x'.repeat(256)]
  const wrongInNames = ['a b', 'a\tb', 'a\u007f', 'a\n', 'a\u0000b', 'a?', 'a*', 'a[b', 'a\\b', 'a\ud800']
  t.same(
    [...otherThings, ...wrongParts, ...wrongInNames].filter((branch) => isBranch(branch)),
    [],
  )

  t.ok(isSha(SHA.toUpperCase()))
  t.ok(isSha(SHA.padEnd(64, '0')), 'of SHA-256')
  t.same(
    [SHA.slice(1), `${SHA}0`, SHA.padEnd(63, '0'), `${SHA.slice(1)}g`, 'main', ''].filter((sha) => isSha(sha)),
    [],
  )
  t.same(
    ['github.com', 'git.example.com:8443', 'LOCALHOST', 'git.example.com/team/x'].filter((host) => !isHost(host)),
    [],
  )
  t.same(
    ['', 'https://github.com', 'a/', 'a//b', 'a/b?c', 'a@b', '-a', 'a:x'].filter((host) => isHost(host)),
    [],
  )
  t.notOk(isParams({ sha: SHA, branch: 'main', other: 1 }))
})

t.test('a commit id and a host are normalized', async (t) => {
  const { verifier } = await setUp()
  const given = { target: 'Acme/App', params: { sha: SHA.toUpperCase(), branch: 'Main', host: 'GitHub.com' } }
  t.same(verifier.normalize?.(given), { target: 'Acme/App', params: { sha: SHA, branch: 'Main', host: 'github.com' } })
  t.same(verifier.normalize?.({ target: 'a/b', params: { sha: SHA, branch: 'x' } }).params, { sha: SHA, branch: 'x' })
})

t.test('a connection fits claims about its host and its owners', async (t) => {
  const { connections } = await setUp()
  const fits = (provider: string, options: object, host?: string) =>
    connections.get(provider)!.fits(options as never, claimOf({ sha: SHA, ...(host === undefined ? {} : { host }) }))

  t.ok(fits('github', {}))
  t.ok(fits('github', {}, 'github.com'))
  t.ok(fits('github', {}, 'GitHub.com'))
  t.ok(fits('github', {}, 'api.github.com'))
  t.notOk(fits('github', {}, 'gitlab.com'))
  const enterprise = { base_url: 'https://ghe.example.com/api/v3' }
  t.ok(fits('github', enterprise, 'ghe.example.com'))
  t.notOk(fits('github', enterprise, 'github.com'))
  t.ok(fits('github', { owners: ['other', 'ACME'] }))
  t.notOk(fits('github', { owners: ['other'] }))
  t.ok(fits('git', { base_url: 'https://git.example.com:8443/scm' }, 'git.example.com:8443/scm'))
  t.notOk(
    fits('git', { base_url: 'https://git.example.com:8443/scm' }, 'git.example.com:8443'),
    "a sub-path may be another owner's",
  )
  t.notOk(fits('github', { base_url: 'https://pages.example.com/mallory' }, 'pages.example.com'))
  t.ok(fits('github', { base_url: 'https://pages.example.com/mallory' }, 'pages.example.com/mallory'))
  t.notOk(fits('git', { base_url: 'https://git.example.com:8443/scm' }, 'git.example.com'))
  t.notOk(fits('git', { base_url: 'https://git.example.com', owners: [] }))
})

t.test('without a connection only the public host is read', async (t) => {
  const github = await startGitHub()
  t.teardown(() => github.close())
  const repository = await github.createRepository('acme/app')
  const sha = await repository.commit()
  await repository.push('main', sha)
  const { verifier } = await setUp({ public_base_url: `${github.url}/` })
  const { host } = new URL(github.url)
  t.equal(await outcome(check(verifier, claimOf({ sha }), createContext())), 'as claimed')
  t.equal(await outcome(check(verifier, claimOf({ sha, host }), createContext())), 'as claimed')
  t.equal(await outcome(check(verifier, claimOf({ sha, host: 'gitlab.com' }), createContext())), 'no_connection')
})

t.test('the secrets of connections are marked', async (t) => {
  const { connections } = await setUp()
  const secretsOf = (provider: string) =>
    Object.entries(connections.get(provider)!.options.properties)
      .filter(([, schema]) => isSecret(schema))
      .map(([name]) => name)
  t.same(secretsOf('github'), ['token', 'private_key'])
  t.same(secretsOf('git'), ['password'])
})

t.test('a base URL with credentials, a query, another protocol or a host like an option is refused', async (t) => {
  const { connections } = await setUp()
  const ajv = new Ajv2020({ strict: true, strictTypes: false, keywords: ['x-secret', 'x-pattern-help'] })
  const isOptions = ajv.compile(connections.get('git')!.options)
  for (const base_url of ['https://git.example.com', 'http://127.0.0.1:3000/scm/'])
    t.ok(isOptions({ base_url }), base_url)
  for (const base_url of [
    'https://me:pw@git.example.com',
    'https://-oProxyCommand=x',
    'http://-git.example.com/scm',
    'https://git.example.com?x',
    'file:///srv',
    'ssh://git@host',
    'ext::sh',
  ]) {
    t.notOk(isOptions({ base_url }), base_url)
  }
})

t.test(
  'a probe of GitHub finds a refused token, and warns of one that can write, or whose rights GitHub does not tell',
  async (t) => {
    const github = await startGitHub()
    t.teardown(() => github.close())
    github.addToken({ token: 'fine-grained' })
    github.addToken({ token: 'classic', scopes: 'repo, read:org' })
    const probe = (token?: string, target?: string) =>
      probeWith('github', { base_url: github.url, ...(token === undefined ? {} : { token }) }, target)

    t.same(await probe(), { proves: 'reached', scopes: [], warnings: [] })
    const fineGrained = await probe('fine-grained')
    t.same(fineGrained.scopes, [])
    t.match(fineGrained.warnings, [/does not tell what this token can do/])
    const classic = await probe('classic')
    t.same(classic.scopes, ['repo', 'read:org'])
    t.equal(classic.warnings.length, 1)
    await t.rejects(probe('revoked'), { code: 'unauthorized' })

    const open = await github.createRepository('acme/open')
    await github.createRepository('acme/closed', { isPrivate: true })
    const seen = await github.createRepository('acme/seen', { isPrivate: true })
    github.addToken({ token: 'reader', repositories: [open, seen] })
    t.equal((await probe('reader')).proves, 'reached', 'nothing was named')
    t.equal((await probe('reader', 'acme/seen')).proves, 'works')
    t.equal((await probe('reader', 'acme/open')).proves, 'works', 'GitHub refuses an unknown token at all places')
    await t.rejects(probe('revoked', 'acme/open'), { code: 'unauthorized' })
    await t.rejects(probe('reader', 'acme/closed'), { code: 'forbidden' })
    t.equal((await probe(undefined, 'acme/open')).proves, 'works', 'without a token')
    await t.rejects(probe(undefined, 'acme/seen'), { code: 'forbidden' })
    for (const target of ['acme', 'acme/../seen', 'acme/seen/x', 'https://github.com/acme/seen'])
      await t.rejects(probe('reader', target), { code: 'unsupported_target' }, target)
    for (const [text, expiresAt] of [
      ['2026-10-03 13:45:10 UTC', Date.UTC(2026, 9, 3, 13, 45, 10)],
      ['2026-10-03 13:45:10 -0700', Date.UTC(2026, 9, 3, 20, 45, 10)],
      ['soon', undefined],
      ['2026-99-99 13:45:10 UTC', undefined],
    ] as const) {
      github.faults.inject({
        fault: status(200, { 'github-authentication-token-expiration': text }, { resources: {} }),
        on: /rate_limit/,
      })
      t.equal((await probe('reader')).expiresAt, expiresAt, text)
      github.faults.clear()
    }
    github.faults.inject({ fault: status(404), times: 1 })
    t.equal((await probe('classic')).warnings.length, 1, 'an Enterprise server without rate limits')
    github.faults.inject({ fault: status(500), times: 1 })
    await t.rejects(probe(), { code: 'unavailable' })
  },
)

t.test('a probe of a git server finds whether it can be reached, and warns that the rights are unknown', async (t) => {
  const server = await GitServer.start()
  t.teardown(() => server.close())
  const probe = (options: JsonObject = {}, target?: string) =>
    probeWith('git', { base_url: server.url, ...options }, target)

  t.same(await probe(), { proves: 'reached', scopes: [], warnings: [] })
  t.equal((await probe({ username: 'reader', password: 'x' })).warnings.length, 2)
  server.faults.inject({ fault: status(401), times: 1 })
  await t.rejects(probe({ username: 'reader', password: 'x' }), { code: 'unauthorized' })
  server.faults.inject({ fault: status(503), times: 1 })
  await t.rejects(probe(), { code: 'unavailable' })

  const right = { username: 'reader', password: 'right' }
  const wrong = { username: 'reader', password: 'wrong' }
  await server.createRepository('acme/open')
  await server.createRepository('acme/closed', { credentials: right })
  t.equal((await probe(wrong)).proves, 'reached', 'nothing shows that they are wrong')
  t.equal((await probe(right, 'acme/closed')).proves, 'works')
  await t.rejects(probe(wrong, 'acme/closed'), { code: 'unauthorized' })
  await t.rejects(probe({}, 'acme/closed'), { code: 'unauthorized' })
  await t.rejects(probe(right, 'acme/none'), { code: 'forbidden' })
  t.equal((await probe({}, 'acme/open')).proves, 'works', 'there are no credentials to prove')
  for (const credentials of [right, wrong]) {
    const { proves, warnings } = await probe(credentials, 'acme/open')
    t.equal(proves, 'reached')
    t.match(warnings[0], /Anybody can read the repository/)
  }
  await server.stopListening()
  await t.rejects(probe(), { code: 'unavailable' })
})
