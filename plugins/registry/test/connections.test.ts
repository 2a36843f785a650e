/** The plugin's connections: which claims they fit, what their probes say; and a package that npm itself publishes. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { DestinationError, JsonObject } from '@claimcheck/core/plugin'
import t from 'tap'
import { Verdaccio } from '../../../test/destinations/verdaccio.ts'
import { claimOf, look, probe, setUp } from './fixture.ts'
import { serve } from './serve.ts'

const { connections, verifier } = await setUp()

const FITS: readonly [
  provider: string,
  options: JsonObject,
  target: string,
  registry: string | undefined,
  fits: boolean,
][] = [
  ['npm', {}, 'npm:tool', undefined, true],
  ['npm', {}, 'npm:tool', 'registry.npmjs.org', true],
  ['npm', {}, 'npm:tool', 'npmjs.com', true],
  ['npm', {}, 'npm:tool', 'www.npmjs.com', true],
  ['pypi', {}, 'pypi:tool', 'upload.pypi.org/legacy', true],
  ['pypi', { base_url: 'https://test.pypi.org' }, 'pypi:tool', 'upload.pypi.org/legacy', false],
  ['npm', {}, 'npm:tool', 'npm.example.com', false],
  ['npm', {}, 'pypi:tool', undefined, false],
  ['npm', { base_url: 'https://NPM.example.com/team/' }, 'npm:tool', 'npm.example.com/team', true],
  ['npm', { base_url: 'https://npm.example.com/team' }, 'npm:tool', 'npm.example.com', false],
  ['npm', { base_url: 'https://npm.example.com' }, 'npm:tool', 'npmjs.com', false],
  ['npm', { packages: ['@acme/*', 'tool'] }, 'npm:@acme/x', undefined, true],
  ['npm', { packages: ['@acme/*', 'tool'] }, 'npm:tool', undefined, true],
  ['npm', { packages: ['@acme/*', 'tool'] }, 'npm:tools', undefined, false],
  ['npm', { packages: ['@acme/*'] }, 'npm:@acme-2/x', undefined, false],
  ['pypi', {}, 'pypi:tool', 'pypi.org', true],
  ['pypi', { packages: ['My_Pkg', 'Acme.*'] }, 'pypi:my-pkg', undefined, true],
  ['pypi', { packages: ['My_Pkg', 'Acme.*'] }, 'pypi:acme-x', undefined, true],
  ['pypi', { packages: ['My_Pkg', 'Acme.*'] }, 'pypi:acmex', undefined, false],
  ['cargo', {}, 'cargo:tool', 'crates.io', true],
  ['cargo', {}, 'cargo:tool', 'index.crates.io', true],
  ['cargo', { packages: ['acme_tool', 'Acme-x*'] }, 'cargo:acme-tool', undefined, true],
  ['cargo', { packages: ['acme_tool', 'Acme-x*'] }, 'cargo:acme_xy', undefined, true],
  ['cargo', { packages: ['acme_tool', 'Acme-x*'] }, 'cargo:acmetool', undefined, false],
]

for (const [provider, options, target, registry, fits] of FITS) {
  t.test(
    `${provider} ${JSON.stringify(options)} ${fits ? 'fits' : 'does not fit'} ${target} at ${registry}`,
    async (t) => {
      const claim = claimOf({ target, params: registry === undefined ? {} : { registry } })
      t.equal(connections.get(provider)!.fits(options as Record<string, unknown>, claim), fits)
    },
  )
}

t.test('without a connection, the public registry is read, and no other', async (t) => {
  const source = (target: string, registry?: string) =>
    verifier.anonymousSource!(claimOf({ target, params: registry === undefined ? {} : { registry } }) as never)
  t.same(source('npm:tool'), { provider: 'npm', baseUrl: 'https://registry.npmjs.org' })
  t.same(source('pypi:tool', 'pypi.org'), { provider: 'pypi', baseUrl: 'https://pypi.org' })
  t.same(source('cargo:tool', 'crates.io'), { provider: 'cargo', baseUrl: 'https://index.crates.io' })
  t.equal(source('npm:tool', 'npm.example.com'), undefined)
})

const code = (error: unknown) => (error as DestinationError).code

t.test('a probe reads with the credentials, and says what it cannot know', async (t) => {
  const { url, requests } = await serve(t, {
    '/-/ping': {},
    '/simple/': {},
    '/config.json': { dl: 'https://static.example' },
    '/open/-/whoami': {},
    '/named/-/whoami': { username: 'reader' },
  })
  const unknown = { warnings: [/does not tell whether/] }
  t.match(await probe('npm', { base_url: url }), { scopes: [], warnings: [] })
  t.match(await probe('npm', { base_url: url, token: 'npm_token' }), unknown, 'a registry without accounts')
  t.match(await probe('npm', { base_url: `${url}/named`, token: 'npm_token' }), unknown)
  t.equal(
    await probe('npm', { base_url: `${url}/open`, token: 'npm_token' }).catch(code),
    'unauthorized',
    'taken for nobody',
  )
  t.match(await probe('pypi', { base_url: url }), { scopes: [], warnings: [] })
  t.match(await probe('pypi', { base_url: url, username: 'reader', password: 'secret' }), unknown)
  t.match(await probe('cargo', { base_url: url }), { scopes: [], warnings: [] })
  t.match(await probe('cargo', { base_url: url, token: 'a-token' }), unknown)
  t.equal(await probe('cargo', { base_url: `${url}/other` }).catch(code), 'forbidden')
  t.ok(requests.includes('/-/whoami'))
  await t.rejects(probe('npm', { base_url: url }, 'a/b/c'), { code: 'unsupported_target' })
})

t.test('an index may list no projects, answer no HEAD, and have no JSON', async (t) => {
  const server = createServer(({ url = '', method, headers }, response) => {
    const isProject = url === '/team/simple/tool/'
    const accepts = /text\/html/.test(headers.accept ?? '')
    const got = accepts ? 200 : 406
    const status = method === 'HEAD' ? 405 : got
    response.writeHead(isProject ? status : 404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/simple`
  t.match(await probe('pypi', { base_url }, 'tool'), { proves: 'works', warnings: [/lists no projects/] })
  t.equal(await probe('pypi', { base_url }, 'other').catch(code), 'forbidden')
  t.equal(await probe('pypi', { base_url }).catch(code), 'forbidden')
})

t.test('a probe says that credentials work only where the registry needed them', async (t) => {
  const RIGHT = `Basic ${Buffer.from('reader:right').toString('base64')}`
  const server = createServer(({ url = '', headers }, response) => {
    const isPrivate = /closed/.test(url)
    const isKnown = [RIGHT, 'right', 'Bearer right'].includes(headers.authorization ?? '')
    const status = isPrivate && !isKnown ? 401 : 200
    const isMissing = /none|whoami/.test(url)
    const body = url.endsWith('/ping') ? '{}' : '{"dl":"https://a.example/"}'
    response.writeHead(isMissing ? 404 : status, { 'content-length': body.length }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rows = [
    ['npm', { token: 'right' }, { token: 'wrong' }],
    ['pypi', { username: 'reader', password: 'right' }, { username: 'reader', password: 'wrong' }],
    ['cargo', { token: 'right' }, { token: 'wrong' }],
  ] as const
  for (const [provider, right, wrong] of rows) {
    const tried = (options: object, name: string) =>
      probe(provider, { base_url, ...options }, name).then(({ proves }) => proves, code)
    t.equal(await tried(right, 'closed'), 'works', provider)
    t.equal(await tried(wrong, 'closed'), 'unauthorized', provider)
    t.equal(await tried(wrong, 'open'), 'reached', `${provider}: anybody can read it`)
    t.equal(await tried(right, 'open'), 'reached', provider)
    t.equal(await tried({}, 'open'), 'works', provider)
    t.equal(await tried(right, 'none'), 'forbidden', provider)
  }
})

t.test('what npm publishes to a Verdaccio is seen, with the digest that npm says', async (t) => {
  const verdaccio = await Verdaccio.start()
  t.teardown(() => verdaccio.close())
  const token = await verdaccio.addUser('publisher')
  t.match(await probe('npm', { base_url: verdaccio.url, token }), { proves: 'reached', scopes: [] })
  t.equal(await probe('npm', { base_url: verdaccio.url, token: 'not-a-token' }).catch(code), 'unauthorized')

  const folder = await mkdtemp(join(tmpdir(), 'npm-publish-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: '@private/tool', version: 'v1.0.0' }))
  await writeFile(join(folder, '.npmrc'), `//${new URL(verdaccio.url).host}/:_authToken=${token}\n`)
  const { stdout } = await promisify(execFile)(
    'npm',
    ['publish', '--json', '--ignore-scripts', '--registry', verdaccio.url],
    {
      cwd: folder,
      env: { ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_update_notifier: 'false' },
    },
  )
  const told = JSON.parse(stdout)
  const integrity = (told.integrity ?? told['@private/tool'].integrity) as string

  const connection = { provider: 'npm', options: { base_url: verdaccio.url, token } }
  const asked = { target: 'npm:@private/tool', connection, now: Date.now() }
  t.match(await look({ ...asked, params: { integrity } }), {
    kind: 'present',
    differs: [],
    facts: { version: '1.0.0', integrity, integrity_by: 'claimcheck' },
  })
  const { token: _, ...open } = connection.options
  const unseen = look({ ...asked, connection: { ...connection, options: open } }).catch(code)
  t.equal(await unseen, 'unauthorized', 'without the token')
})
