// Test run: slow
/** Refreshes that come more than once, at the same time or after a lost answer. Threat K3 of `security.md`. */
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { BY_SERVICE } from '@claimcheck/server/base/actor'
import type { NewRecord } from '@claimcheck/server/features/oauth/records'
import { type Storage, StorageError } from '@claimcheck/server/storage/storage'
import t, { type Test as TapTest } from 'tap'
import {
  Application,
  CLIENT,
  CONFIDENTIAL,
  INVALID_GRANT,
  OAUTH,
  post,
  RESOURCE,
  SECRET,
  type Tokens,
  whoami,
  withOAuth,
} from '../support/application.ts'
import { createDatabase, DIALECTS, type Dialect } from '../support/database.ts'
import { PATIENT, tries } from '../support/extent.ts'
import type { Answer, Host, Installation, InstallationOptions } from '../support/installation.ts'
import { dump, query } from '../support/sql.ts'
import { Visitor } from '../support/visitor.ts'

const PUBLIC_URL = 'http://claims.example'
const FILE = { oauth: OAUTH, rate_limits: { network: 0 } }

const installed = (t: TapTest, options: InstallationOptions = {}): Promise<Installation> =>
  withOAuth(t, { file: FILE, ...options })

/** Two hosts where the database serves several; on SQLite the one that there is. */
async function hostsOn(t: TapTest, dialect: Dialect) {
  const installation = await installed(t, { env: { PUBLIC_URL }, database: await createDatabase(dialect) })
  const hosts = dialect === 'postgres' ? [installation.host, await installation.addHost()] : [installation.host]
  return { installation, hosts, owner: await Visitor.firstAt(installation.host, PUBLIC_URL) }
}

/** The audit trail of reuse. */
async function reuses({ config }: Installation): Promise<number> {
  return (await query(config.databaseUrl, `SELECT 1 FROM audit_trail WHERE event = 'application.token_reused'`)).length
}

const ISSUED = `SELECT kind FROM records WHERE kind <> 'oauth:Client'`

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, refreshes that come at once get one answer, and the sign-in goes on`, async (t) => {
    const { installation, hosts, owner } = await hostsOn(t, dialect)
    const application = new Application(undefined, PUBLIC_URL)
    for (const count of [2, 6, 50]) {
      const { refresh_token: token } = await application.tokens(owner)
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => application.refresh(hosts[index % hosts.length]!, token)),
      )
      t.same([...new Set(answers.map(({ status }) => status))], [200], `${count} at once`)
      t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1, 'exactly the same answer')
      const { body, headers } = answers.at(-1)!
      t.not(body.refresh_token, token)
      t.equal(headers.get('cache-control'), 'no-store')
      for (const host of hosts) t.equal((await whoami(host, body.access_token)).status, 200)

      t.same((await application.refresh(hosts.at(-1)!, token)).body, body, 'and once more')
      t.equal((await application.refresh(hosts[0]!, body.refresh_token)).status, 200)
      t.equal(await reuses(installation), [2, 6, 50].indexOf(count))
      t.match(await application.refresh(hosts.at(-1)!, token), INVALID_GRANT, 'its successor was used')
      t.equal((await whoami(hosts[0]!, body.access_token)).status, 401)
      t.equal(await reuses(installation), [2, 6, 50].indexOf(count) + 1)
    }
    const issued = `SELECT 1 FROM records WHERE kind = 'oauth:RefreshToken'`
    t.same(await query(installation.config.databaseUrl, issued), [], 'nothing remains of what has ended')
  })
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, a repeat that meets the next refresh is answered or is reuse, and nothing else`, async (t) => {
    const { hosts, owner } = await hostsOn(t, dialect)
    const application = new Application(undefined, PUBLIC_URL)
    const statuses = new Set<number>()
    for (let round = 0; round < tries(10); round++) {
      const { refresh_token: token } = await application.tokens(owner)
      const { refresh_token: next } = (await application.refresh(hosts[0]!, token)).body
      const both = Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? next : token))
      const answers = await Promise.all(
        both.map((one, index) => application.refresh(hosts[index % hosts.length]!, one)),
      )
      for (const { status, body } of answers) {
        statuses.add(status)
        if (status !== 200) t.match({ status, body }, INVALID_GRANT)
      }
      const wasReused = answers.some(({ status }) => status !== 200)
      const last = answers.find(({ status }, index) => status === 200 && both[index] === next)
      if (wasReused && last) t.equal((await whoami(hosts[0]!, last.body.access_token)).status, 401)
    }
    t.ok([...statuses].every((status) => status === 200 || status === 400))
  })
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, nothing outlives a grant that ends while tokens are issued`, async (t) => {
    const { installation, hosts, owner } = await hostsOn(t, dialect)
    const { oauthRecords: records, storage } = hosts.at(-1)!.claimcheck
    const ends = {
      'the grant': (grantId: string) => records.endGrant(grantId, 'application.stopped', BY_SERVICE),
      'all grants of a member': (_: string, memberId: string) =>
        storage.write((tx) => tx.records.removeGrantsOf([memberId])),
    }
    for (const [what, end] of Object.entries(ends)) {
      for (const isRefresh of [true, false]) {
        const { refresh_token: used } = await new Application(undefined, PUBLIC_URL).tokens(owner)
        const { payload } = (await records.find('RefreshToken', used))!
        const { grantId, accountId } = payload
        const store = (issued: NewRecord) =>
          isRefresh
            ? records.rotate({ used, grantId: grantId!, asked: '', issued: [issued], answer: {} }, BY_SERVICE)
            : records.put(issued)
        let ended: Promise<unknown> = Promise.resolve()
        const recordAudit = async () => {
          ended = end(grantId!, accountId!)
          await setTimeout(200)
        }
        const token = { model: 'AccessToken', payload, ttlMs: 60_000 }
        await store({ ...token, id: 'during', recordAudit })
        await ended
        t.same(await query(installation.config.databaseUrl, ISSUED), [], `${what}, ${isRefresh}`)
        t.equal(await store({ ...token, id: 'after' }), undefined, 'nor is anything stored after that')
        t.same(await query(installation.config.databaseUrl, ISSUED), [])
      }
    }
  })
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, the audit trail has one repeat from another address`, async (t) => {
    const env = { PUBLIC_URL, TRUST_PROXY: '1' }
    const { host, config } = await installed(t, { env, database: await createDatabase(dialect) })
    const repeats = `SELECT address, actor_kind FROM audit_trail WHERE event = 'application.refresh_repeated'`
    const application = new Application(undefined, PUBLIC_URL)
    const { refresh_token } = await application.tokens(await Visitor.firstAt(host, PUBLIC_URL))
    const fields = { grant_type: 'refresh_token', client_id: application.clientId, refresh_token }
    const from = (address: string) => post(host, '/oauth/token', fields, { 'x-forwarded-for': address })
    const { body } = await from('192.0.2.1')
    for (let count = 0; count < 3; count++) t.same((await from('192.0.2.1')).body, body)
    t.same(await query(config.databaseUrl, repeats), [], 'the client itself')
    const stolen = await Promise.all(Array.from({ length: 6 }, () => from('203.0.113.5')))
    t.same([...new Set(stolen.map((answer) => JSON.stringify(answer.body)))], [JSON.stringify(body)])
    t.same((await from('203.0.113.6')).body, body)
    t.same(await query(config.databaseUrl, repeats), [{ address: '203.0.113.5', actor_kind: 'application' }])
  })
}

t.test('a client that lost the answer asks again, and is answered', async (t) => {
  const { host } = await installed(t)
  const application = new Application()
  const owner = await Visitor.owner(host)
  for (const afterMs of [0, 1, 5, 50]) {
    const { refresh_token: token } = await application.tokens(owner)
    await refreshAndHangUp(host, application, token, afterMs)
    const { status, body } = await application.refresh(host, token)
    t.equal(status, 200, `hung up after ${afterMs} ms`)
    t.equal((await whoami(host, body.access_token)).status, 200)
    t.equal((await application.refresh(host, body.refresh_token)).status, 200)
  }
})

/** Sends a refresh, and reads no answer. */
async function refreshAndHangUp(host: Host, application: Application, token: string, afterMs: number): Promise<void> {
  const { hostname, port, host: name } = new URL(host.url)
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: application.clientId,
    refresh_token: token,
  }).toString()
  const socket = connect(Number(port), hostname)
  const head = `POST /oauth/token HTTP/1.1\r\nhost: ${name}\r\ncontent-type: application/x-www-form-urlencoded`
  await new Promise((resolve) => {
    socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`, resolve)
  })
  await setTimeout(afterMs)
  socket.destroy()
}

interface Repeated {
  readonly host: Host
  readonly application: Application
  readonly first: Tokens
  readonly pass: (ms: number) => void
}

/** What happens between a refresh and its repeat, or is different in the repeat, and ends all that was allowed. */
const REUSE: Readonly<Record<string, (repeated: Repeated) => Promise<Answer>>> = {
  'after eleven seconds': ({ host, application, first, pass }) => {
    pass(11_000)
    return application.refresh(host, first.refresh_token)
  },
  'after eleven seconds, for a resource that there is not': ({ host, application, first, pass }) => {
    pass(11_000)
    return application.refresh(host, first.refresh_token, { resource: 'https://unknown.example' })
  },
  'for another scope': ({ host, application, first }) =>
    application.refresh(host, first.refresh_token, { scope: 'claims:read' }),
  'for a resource that was not named': ({ host, application, first }) =>
    application.refresh(host, first.refresh_token, { resource: host.url }),
}

t.test('what is no repeat is reuse, and ends what came of it', async (t) => {
  let now = Date.now()
  const installation = await installed(t, { now: () => now })
  const { host } = installation
  const owner = await Visitor.owner(host)
  let ended = 0
  for (const [what, reuse] of Object.entries(REUSE)) {
    const application = new Application()
    const first = await application.tokens(owner)
    const { body } = await application.refresh(host, first.refresh_token)
    now += 9000
    t.same((await application.refresh(host, first.refresh_token)).body, body, 'after nine seconds')
    const pass = (ms: number) => {
      now += ms - 9000
    }
    t.match(await reuse({ host, application, first, pass }), INVALID_GRANT, what)
    t.equal(await reuses(installation), ++ended)
    t.equal((await whoami(host, body.access_token)).status, 401)
    t.match(await application.refresh(host, body.refresh_token), INVALID_GRANT)
    t.match(await application.refresh(host, first.refresh_token), INVALID_GRANT, 'nor is it repeated any more')
  }
})

t.test('an answer is for the client that got it, and for as long as the person lets it', async (t) => {
  const { host } = await installed(t)
  const owner = await Visitor.owner(host)
  const other = { client_id: CONFIDENTIAL.client_id, client_secret: SECRET }
  const application = new Application()
  const { refresh_token: token } = await application.tokens(owner)
  const { body } = await application.refresh(host, token)
  t.match(await application.refresh(host, token, other), INVALID_GRANT, 'another application')
  t.match(await application.refresh(host, token, { client_id: 'nobody' }), { status: 401 })
  t.match(await application.refresh(host, token, { scope: 'connections:read' }), { body: { error: 'invalid_scope' } })
  t.match(await application.refresh(host, token, { resource: RESOURCE }), { body: { error: 'invalid_target' } })
  t.same((await application.refresh(host, token)).body, body, 'none of which changed anything')

  const confidential = new Application(CONFIDENTIAL)
  const code = (await confidential.allowed(owner)).get('code')
  const { body: first } = await confidential.exchange(host, code, { client_secret: SECRET })
  t.equal((await confidential.refresh(host, first.refresh_token, { client_secret: SECRET })).status, 200)
  t.match(await confidential.refresh(host, first.refresh_token), { status: 401 }, 'without its secret')

  await application.revoke(host, body.refresh_token)
  t.match(await application.refresh(host, token), INVALID_GRANT, 'after it was given back')

  const removed = new Application()
  const joining = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
  const tokens = await removed.tokens(joining)
  t.equal((await removed.refresh(host, tokens.refresh_token)).status, 200)
  const { members } = host.claimcheck
  const { id } = (await members.list(await owner.workspaceId())).find(({ name }) => name === 'Mia')!
  await members.remove(await owner.workspaceId(), id)
  t.match(await removed.refresh(host, tokens.refresh_token), INVALID_GRANT, 'after the member was removed')
})

t.test('a refresh that ends halfway has not happened, and one that was kept is answered', async (t) => {
  const { host } = await installed(t, { inProcess: true })
  const application = new Application()
  const { refresh_token: token } = await application.tokens(await Visitor.owner(host))
  const storage: { write: Storage['write'] } = host.claimcheck.storage
  const { write } = storage
  const gone = new StorageError('unavailable', 'no database')
  storage.write = (work) =>
    write(async (tx) => {
      await work(tx)
      throw gone
    })
  t.match(await application.refresh(host, token), { status: 503, body: { error: 'temporarily_unavailable' } })
  // It is kept, and the connection breaks before anyone knows.
  storage.write = async (work) => {
    await write(work)
    throw gone
  }
  t.match(await application.refresh(host, token), { status: 503 })
  storage.write = write
  const { status, body } = await application.refresh(host, token)
  t.equal(status, 200)
  t.equal((await application.refresh(host, body.refresh_token)).status, 200, 'which was issued then')
})

const ANSWERS = `SELECT id_hash FROM records WHERE kind = 'oauth:RefreshAnswer'`

t.test('a copy of the database holds no answer in clear', async (t) => {
  const { host, config } = await installed(t)
  const application = new Application()
  const { refresh_token: token } = await application.tokens(await Visitor.owner(host))
  const { body } = await application.refresh(host, token)
  t.same(await query(config.databaseUrl, ANSWERS), [{ id_hash: createHash('sha256').update(token).digest('hex') }])
  const text = await dump(config.databaseUrl)
  for (const secret of [token, body.access_token, body.refresh_token]) t.notOk(text.includes(secret))
  await host.claimcheck.applications.revoke(...(await onlyGrant(host)))
  t.same(await query(config.databaseUrl, ANSWERS), [], 'it ends with what the person allowed')
})

async function onlyGrant(host: Host): Promise<[string, string]> {
  const [user] = await host.claimcheck.storage.read.users.list()
  const [application] = await host.claimcheck.applications.list(user!.id)
  return [user!.id, application!.grantId]
}

t.test('an answer is gone when nothing may repeat it, without another request', PATIENT, async (t) => {
  const { host, config } = await installed(t)
  const application = new Application()
  const { refresh_token: token } = await application.tokens(await Visitor.owner(host))
  const { body } = await application.refresh(host, token)
  t.equal((await query(config.databaseUrl, ANSWERS)).length, 1)
  await setTimeout(5000)
  await application.refresh(host, body.refresh_token)
  for (let seconds = 0; seconds < 30 && (await query(config.databaseUrl, ANSWERS)).length > 0; seconds++) {
    await setTimeout(1000)
  }
  t.same(await query(config.databaseUrl, ANSWERS), [])
})

t.test('a client goes on that was stored with a name that is refused now, and is listed and stopped', async (t) => {
  const { host } = await installed(t)
  const owner = await Visitor.owner(host)
  const { oauthRecords, applications } = host.claimcheck
  const uris = { redirect_uris: ['https://kept.example/back'] }
  const grants = { grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' }
  const kept = { client_id: 'app_kept', client_name: 'Acme\u200b', ...uris, ...grants }
  await oauthRecords.put({ model: 'Client', id: kept.client_id, payload: kept as never, ttlMs: undefined })
  const application = new Application(kept)
  t.match((await application.consentPage(owner)).html, 'Acme&lt;U+200B>')
  const { refresh_token: token } = await application.tokens(owner)
  t.equal((await application.refresh(host, token)).status, 200)
  const [userId, grantId] = await onlyGrant(host)
  t.match(await applications.list(userId), [{ clientName: 'Acme\u200b' }])
  await applications.revoke(userId, grantId)
  t.same(await applications.list(userId), [])
})

t.test('scopes that a client repeats at a refresh narrow it to what was granted', async (t) => {
  const { host } = await installed(t)
  const owner = await Visitor.owner(host)
  const member = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
  const application = new Application(CLIENT)
  let { refresh_token: token } = await application.tokens(member)
  for (const [scope, granted] of [
    ['claims:read claims:submit', 'claims:read'],
    ['openid claims:read offline_access', 'claims:read'],
    ['openid', 'claims:read'],
  ] as const) {
    const { status, body } = await application.refresh(host, token, { scope })
    t.match({ status, scope: body.scope }, { status: 200, scope: granted }, scope)
    token = body.refresh_token
  }
  t.match(await application.refresh(host, token, { scope: 'claims:submit' }), { body: { error: 'invalid_scope' } })
})
