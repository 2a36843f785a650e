// Test run: end-to-end, slow
/** One check at a real place that speaks another protocol than HTTP: what an author sees of it. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { SocketGrant } from '@claimcheck/core/hosting'
import {
  type ActionProfile,
  DestinationError,
  defineConnectionType,
  definePlugin,
  defineVerifier,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { tryClaim } from '@claimcheck/core/testkit'
import t from 'tap'
import { sharedPostgresUrl } from '../../test/support/postgres.ts'
import { profile } from './bad-plugins/good.ts'

type Check = Parameters<typeof defineVerifier>[0]['check']

function pluginAt(sockets: readonly SocketGrant[], check: Check) {
  const verifier = defineVerifier({
    profile: profile as unknown as ActionProfile,
    providers: ['lines'],
    check,
  })
  const type = defineConnectionType({
    provider: 'lines',
    title: 'Lines',
    help: 'Make a reader.',
    options: Type.Object(
      { url: Type.String(), password: secret({ description: 'A password.' }) },
      { additionalProperties: false },
    ),
    baseUrl: ({ url }) => url,
    fits: () => true,
    probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
  })
  return definePlugin({
    name: 'lines',
    api: 3,
    manifest: { hosts: ['connection.url'], sockets },
    options: Type.Object({}, { additionalProperties: false }),
    setup: () => ({ verifiers: [verifier], connections: [type] }),
  })
}

const claim = () => ({
  action: profile.action,
  target: 'SHOP-1',
  params: { resolution: 'done' },
  claimedAt: Date.now(),
})

t.test('a verifier of a mailbox reads a real server, and the author sees that it connected', async (t) => {
  const server = createServer((socket) => {
    socket.write('* OK ready\r\n')
    socket.on('data', (chunk) => socket.write(String(chunk) === 'a NOOP\r\n' ? 'open\r\n' : 'what?\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `tcp://127.0.0.1:${port}`
  const plugin = pluginAt([{ port, tls: false, protocol: 'imap', commands: ['NOOP'] }], async (_claim, { connect }) => {
    const socket = await connect(url)
    await socket.writable.getWriter().write(new TextEncoder().encode('a NOOP\r\n'))
    const { value } = await socket.readable.getReader().read()
    await socket.close()
    return { kind: 'absent', facts: { project_id: 17, state: new TextDecoder().decode(value).trim() } }
  })
  const trial = await tryClaim({ plugin, claim: claim(), connection: { url, password: 'secret-of-the-place' } })
  t.match(trial.record, { observation: { kind: 'absent', facts: { state: 'open' } } }, JSON.stringify(trial.log))
  t.match(trial.requests, [{ method: 'CONNECT', url, problem: undefined }])

  server.close()
  await once(server, 'close')
  const away = await tryClaim({ plugin, claim: claim(), connection: { url, password: 'secret-of-the-place' } })
  t.match(away.record, { failure: { code: 'unavailable' } })
  t.match(away.requests, [{ method: 'CONNECT', url, problem: /ECONNREFUSED/ }])
})

t.test('a verifier of a database reads a real Postgres', async (t) => {
  const place = new URL(await sharedPostgresUrl())
  const port = Number(place.port)
  const url = `tcp://127.0.0.1:${port}`
  const statements = [{ name: 'one', text: 'SELECT 17 AS number', parameters: [] }]
  const plugin = pluginAt(
    [{ port, tls: false, protocol: 'postgres', statements }],
    async (_claim, { query, connection }) => {
      const { password } = connection!.options as { readonly password: string }
      const login = { user: decodeURIComponent(place.username), secret: password }
      const { rows } = await query(url, { statement: 'one', parameters: {}, database: 'postgres', login })
      return { kind: 'absent', facts: { project_id: Number(rows[0]![0]) } }
    },
  )
  const connection = { url, password: decodeURIComponent(place.password) }
  const trial = await tryClaim({ plugin, claim: claim(), connection })
  t.match(trial.record, { observation: { facts: { project_id: 17 } } }, JSON.stringify(trial))
  t.match(trial.requests, [{ method: 'QUERY', url }])
})

t.test('a server that sends more than its answer to HEAD, as Swift does, ends no process', async (t) => {
  const answer = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
  const server = createServer((socket) => void socket.on('error', () => {}).once('data', () => socket.end(answer)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const plugin = pluginAt([], async (_claim, { fetch }) => {
    const { status } = await fetch(`${url}/it`, { method: 'HEAD' })
    throw new DestinationError('unavailable', { status })
  })
  const connection = { url, password: 'a-secret-of-lines' }
  const { record } = await tryClaim({ plugin, provider: 'lines', connection, claim: claim() })
  t.match(record, { failure: { code: 'unavailable', status: 404 } })
})
