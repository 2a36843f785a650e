// Test run: slow
/** Refresh tokens that rotate, over hosts and processes: none is used twice, and none is lost without a word. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createWorkspaceService } from '@claimcheck/server/features/workspaces/workspaces'
import t, { type Test } from 'tap'
import { createDatabase, DIALECTS, type Dialect } from '../../../../test/support/database.ts'
import { query } from '../../../../test/support/sql.ts'
import {
  type AuthorizationServer,
  CLIENT_ID,
  CLIENT_SECRET,
  holdAnswer,
  startAuthorizationServer,
} from '../../support/authorization-server.ts'
import { openHost, startChecking } from '../../support/refreshing-host.ts'

interface Connecting {
  /** What the trial reads with the credentials; left out: they are stored as they were typed. */
  readonly target?: string
}

async function begin(t: Test, dialect: Dialect) {
  const server = await startAuthorizationServer(t)
  const database = await createDatabase(dialect)
  const folder = t.testdir()
  const databaseUrl = database.env.DATABASE_URL ?? `sqlite:${join(folder, 'claimcheck.db')}`
  const options = { databaseUrl, folder, allowed: [server.host, new URL(server.url).host] }
  const closing: (() => Promise<void>)[] = []
  t.teardown(async () => {
    for (const close of closing) await close()
    await database.remove()
  })
  const open = async (change?: Parameters<typeof openHost>[1]) => {
    const host = await openHost(options, change)
    let closed: Promise<void> | undefined
    const close = () => {
      closed ??= host.close()
      return closed
    }
    closing.push(close)
    return { ...host, close }
  }
  const host = await open()
  const { storage, connections } = host
  const workspace = await createWorkspaceService({ storage, now: Date.now }).create('acme')
  const typed = {
    url: server.url,
    token_url: `http://${server.host}`,
    id: CLIENT_ID,
    secret: CLIENT_SECRET,
    refresh_token: await server.signIn(),
  }
  const connect = (given: object = {}, { target = '' }: Connecting = {}) =>
    connections.connect(workspace.id, 'test', { ...typed, ...given }, { userId: null, insists: false, target })
  const connected = async (given: object = {}, connecting: Connecting = {}) => {
    const one = await connect(given, connecting)
    if ('isRefused' in one) throw new Error(one.failure)
    return one.id
  }
  const rows = (sql: string) => query(databaseUrl, sql)
  return { server, options, open, host, connect, connected, typed, rows }
}

/** The refresh tokens that the server got. */
function sentTo({ asked }: AuthorizationServer): (string | null)[] {
  return asked.map((one) => one.get('refresh_token'))
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}`, async (t) => {
    t.test('what a trial brought is stored, sealed, and other hosts take it', async (t) => {
      const { server, host, open, connected, rows } = await begin(t, dialect)
      const id = await connected({}, { target: 'a' })
      const { asked, reused } = server
      t.equal(asked.length, 1)
      const other = await open()
      t.strictSame([await host.check(id), await other.check(id)], ['200', '200'])
      t.equal(asked.length, 1)
      other.clock.ahead = host.clock.ahead = 3600_000
      t.strictSame([await other.check(id), await host.check(id)], ['200', '200'])
      t.equal(asked.length, 2)
      t.equal(new Set(sentTo(server)).size, 2)
      t.equal(reused(), 0)
      const [stored] = await rows('SELECT * FROM connections')
      t.match(JSON.parse(String(stored!.sealed_tokens)), { refresh_token: /^v2\./ })
      for (const shown of [stored, await host.connections.list()])
        for (const secret of sentTo(server)) t.notOk(JSON.stringify(shown).includes(secret!))
      t.notOk(JSON.stringify(await host.connections.list()).includes('sealed'))
    })

    t.test('two processes and a host at once refresh once', async (t) => {
      const { server, host, options, connected } = await begin(t, dialect)
      const id = await connected()
      t.equal(server.asked.length, 0)
      const processes = await Promise.all([startChecking(t, options, id), startChecking(t, options, id)])
      const held = holdAnswer(server)
      const checks = [host, ...processes].map((one) => one.check(id))
      await held.isAsked
      await setTimeout(300)
      held.release()
      t.strictSame(await Promise.all(checks), ['200', '200', '200'])
      t.equal(server.asked.length, 1)
      t.equal(server.reused(), 0)
    })

    t.test('a host that is killed before the server gets the refresh token costs nothing', async (t) => {
      const { server, host, options, connected, rows } = await begin(t, dialect)
      const id = await connected()
      const killed = await startChecking(t, options, id)
      const isAsked = new Promise<void>((resolve) => {
        server.inFront = () => {
          resolve()
          return true
        }
      })
      void killed.check()
      await isAsked
      await killed.kill()
      server.inFront = () => false
      // Its lease ends in a minute.
      await rows('UPDATE leases SET until = 0')
      t.equal(await host.check(id), '200')
      t.equal(server.asked.length, 1)
      t.equal(server.reused(), 0)
    })

    t.test('one killed before it stores the answer needs a new sign-in at a strict server', async (t) => {
      const { server, host, options, connected, rows } = await begin(t, dialect)
      const id = await connected()
      const killed = await startChecking(t, options, id)
      const held = holdAnswer(server)
      void killed.check()
      await held.isAsked
      await killed.kill()
      held.release()
      await rows('UPDATE leases SET until = 0')
      t.strictSame([await host.check(id), await host.check(id)], ['unauthorized', 'unauthorized'])
      t.match(await host.connections.test(id, { target: 'a' }), { failure: 'unauthorized', state: 'refused' })
      t.equal(server.asked.length, 2, 'what was refused is not sent again')
      t.equal(server.reused(), 1)
      t.match(await rows("SELECT * FROM audit_trail WHERE event = 'connection.refresh_refused'"), [
        { actor_kind: 'service', subject: id, details: /refresh_token/ },
      ])
      await host.connections.replaceSecrets(id, { refresh_token: await server.signIn() }, { insists: false })
      t.equal(await host.check(id), '200')
    })

    t.test('a host that was away for longer than its lease stores what it brought', async (t) => {
      const { server, host, open, connected, rows } = await begin(t, dialect)
      const id = await connected()
      const held = holdAnswer(server)
      const slow = host.check(id)
      await held.isAsked
      await rows('UPDATE leases SET until = 0')
      const other = await open()
      server.inFront = (_, response) => {
        response.writeHead(400).end('{"error":"invalid_grant"}')
        return true
      }
      t.equal(await other.check(id), 'unauthorized', 'the server took it already')
      server.inFront = () => false
      held.release()
      t.equal(await slow, '200')
      t.equal(await other.check(id), '200', 'what the first one brought')
    })

    t.test('a person who replaces the refresh token wins over a refresh under way', async (t) => {
      const { server, host, connected } = await begin(t, dialect)
      const id = await connected()
      const held = holdAnswer(server)
      const check = host.check(id)
      await held.isAsked
      const refreshToken = await server.signIn()
      const replaced = host.connections.replaceSecrets(
        id,
        { refresh_token: refreshToken },
        { insists: false, target: 'a' },
      )
      t.match(await replaced, { failure: null })
      held.release()
      t.equal(await check, 'unavailable', 'it is made again, with the new credentials')
      host.clock.ahead = 3600_000
      t.equal(await host.check(id), '200')
      const sent = sentTo(server)
      t.equal(sent.length, 3)
      t.equal(new Set(sent).size, 3)
      t.equal(sent[1], refreshToken)
      t.equal(server.reused(), 0)
    })

    t.test('the same refresh token again, and another secret, go on with what it became', async (t) => {
      const { server, host, connected, typed } = await begin(t, dialect)
      const id = await connected({}, { target: 'a' })
      const again = { refresh_token: typed.refresh_token, secret: CLIENT_SECRET }
      t.match(await host.connections.replaceSecrets(id, again, { insists: false }), { failure: null })
      t.equal(server.asked.length, 2, 'the trial proves what was typed now')
      const wrong = host.connections.replaceSecrets(id, { secret: 'another' }, { insists: true })
      t.match(await wrong, { failure: 'unauthorized', isRefused: true })
      host.clock.ahead = 3600_000
      t.equal(await host.check(id), '200')
      t.equal(server.reused(), 0)
    })

    t.test('two connections do not get the same refresh token, which each would spend for the other', async (t) => {
      const { server, host, connect, connected, typed } = await begin(t, dialect)
      const id = await connected({}, { target: 'a' })
      await t.rejects(connect({}, { target: 'a' }), {
        code: 'conflict',
        message: new RegExp(`connection ${id} has this`),
      })
      const other = await connected({ refresh_token: await server.signIn() })
      await t.rejects(
        host.connections.replaceSecrets(other, { refresh_token: typed.refresh_token }, { insists: true }),
        { code: 'conflict' },
      )
      host.clock.ahead = 3600_000
      t.strictSame([await host.check(id), await host.check(other)], ['200', '200'])
      t.equal(server.reused(), 0)
      await host.connections.remove(id)
      t.match(await connect({}, { target: 'a' }), { isRefused: true, failure: 'unauthorized' }, 'it was spent')
    })

    t.test('a trial that failed does not cost the refresh token', async (t) => {
      const { server, host, connect, connected } = await begin(t, dialect)
      t.match(await connect({ url: `http://${server.host}` }, { target: 'nowhere' }), { isRefused: true })
      const id = await connected({}, { target: 'a' })
      t.equal(await host.check(id), '200')
      t.equal(server.reused(), 0)
      t.equal(new Set(sentTo(server)).size, server.asked.length)
    })

    t.test('a host that stops stores what it asked for', async (t) => {
      const { server, host, open, connected } = await begin(t, dialect)
      const id = await connected()
      const other = await open()
      const held = holdAnswer(server)
      const check = other.check(id)
      await held.isAsked
      const closed = other.close()
      await setTimeout(50)
      held.release()
      await Promise.all([closed, check])
      t.equal(await host.check(id), '200')
      t.equal(server.asked.length, 1)
    })

    t.test('a database that is away for a moment does not cost the refresh token', async (t) => {
      const { server, open, connected } = await begin(t, dialect)
      const id = await connected()
      let failures = 0
      const other = await open((storage) => ({
        ...storage,
        write: (work, options) => {
          if (server.asked.length === 0 || failures === 1) return storage.write(work, options)
          failures++
          return Promise.reject(new Error('the database is away'))
        },
      }))
      t.equal(await other.check(id), '200')
      t.equal(failures, 1)
      other.clock.ahead = 3600_000
      t.equal(await other.check(id), '200')
      t.equal(server.reused(), 0)
    })

    t.test('a removed connection keeps none of it', async (t) => {
      const { server, host, connected, rows } = await begin(t, dialect)
      const id = await connected()
      const held = holdAnswer(server)
      const check = host.check(id)
      await held.isAsked
      await host.connections.remove(id)
      held.release()
      t.equal(await check, 'unavailable')
      t.match(await rows('SELECT * FROM connections'), [{ sealed_secrets: '{}', sealed_tokens: '{}' }])
    })
  })
}
