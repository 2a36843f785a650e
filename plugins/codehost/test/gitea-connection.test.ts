// Test run: end-to-end, slow
/** Connections to Gitea and Forgejo: what the probe can tell of a token, and which claims fit. */
import t from 'tap'
import { html, json, status } from '../../../test/destinations/faults.ts'
import { probe, setUp } from './context.ts'
import { atGitea } from './gitea-fixture.ts'

const UNENCRYPTED = 'The token is sent unencrypted: use https.'

t.test('the probe tells what the token may do, where the server does', async (t) => {
  const { host } = await atGitea(t)
  const scoped = (token: string, scopes: string) => host.addToken({ token, scopes })
  scoped('least', 'read:issue,read:repository')
  scoped('writing', 'read:issue,write:repository')
  scoped('all', 'all')
  const connected = (token?: string) => probe('gitea', { base_url: `${host.origin}/`, ...(token ? { token } : {}) })
  t.same(await connected(), { proves: 'reached', scopes: [], warnings: [] })
  t.same(await connected('least'), {
    proves: 'reached',
    scopes: ['read:issue', 'read:repository'],
    warnings: [UNENCRYPTED],
  })
  t.match(await connected('writing'), { warnings: [UNENCRYPTED, /can also write \(write:repository\)/] })
  t.match(await connected('all'), { scopes: [], warnings: [UNENCRYPTED, /can read the account/, /does not tell/] })
  await t.rejects(connected('wrong'), { code: 'unauthorized' })
})

t.test('the probe says where no runs are listed', async (t) => {
  const { host, ways } = await atGitea(t)
  const connected = (target?: string) => probe('gitea', { base_url: host.origin }, target)
  const warned = { warnings: [/No runs of Actions are listed/] }
  for (const runs of ['jobs', 'tasks'] as const) {
    Object.assign(ways, { runs })
    t.same(await connected('acme/app'), { proves: 'works', scopes: [], warnings: [] })
  }
  Object.assign(ways, { runs: 'none' })
  t.match(await connected('acme/app'), { proves: 'works', ...warned })
  for (const version of ['1.21.11', '1.21.11-1']) {
    host.faults.inject({ fault: json({ version }), on: /version/ })
    t.match(await connected(), { proves: 'reached', ...warned }, version)
    host.faults.clear()
  }
})

t.test('Forgejo does not tell', async (t) => {
  const { host } = await atGitea(t, { flavour: 'forgejo' })
  host.addToken({ token: 'reader' })
  const told = await probe('gitea', { base_url: host.origin, token: 'reader' })
  t.match(told, { scopes: [], warnings: [UNENCRYPTED, /does not tell/] })
})

t.test('the probe of what is no such server, or fails', async (t) => {
  const { host } = await atGitea(t)
  host.addToken({ token: 'reader' })
  const probing = () => probe('gitea', { base_url: host.origin, token: 'reader' })
  const failing = async (fault: Parameters<typeof host.faults.inject>[0], code: string) => {
    host.faults.inject(fault)
    await t.rejects(probing(), { code })
    host.faults.clear()
  }
  await failing({ fault: json({}), on: /version/ }, 'unexpected_response')
  await failing({ fault: html(), on: /version/ }, 'unexpected_response')
  await failing({ fault: status(404), on: /version/ }, 'forbidden')
  await failing({ fault: status(500), on: /user/ }, 'unavailable')
  await failing({ fault: status(401), on: /user/ }, 'unauthorized')
  await failing({ fault: html(), on: /user/ }, 'unexpected_response')
  // Of what stands before the server, which knows no token.
  await failing({ fault: json({ message: 'blocked' }, 403), on: /user/ }, 'forbidden')
})

t.test('a connection fits by its host, with the path, and by the owners', async (t) => {
  const { connections, close } = await setUp()
  t.teardown(close)
  const type = connections.get('gitea')!
  const fits = (base_url: string, host?: string, owners?: string[]) => {
    const params = host === undefined ? {} : { host }
    const claim = {
      action: 'codehost.commit.push',
      target: 'acme/app',
      params,
      claimedAt: 0,
      deadlineAt: 0,
      submittedAt: 0,
    }
    return type.fits({ base_url, ...(owners ? { owners } : {}) }, claim)
  }
  t.ok(fits('https://git.example.com'))
  t.ok(fits('https://git.example.com/', 'git.example.com'))
  t.ok(fits('https://example.com/git', 'example.com/git'))
  t.notOk(fits('https://example.com/git', 'example.com'))
  t.ok(fits('https://git.example.com', undefined, ['ACME']))
  t.notOk(fits('https://git.example.com', undefined, ['other']))
  t.equal(type.baseUrl({ base_url: 'https://example.com/git/' }), 'https://example.com/git')
})
