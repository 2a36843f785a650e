// Test run: every-node
/** Connections of checks that speak another protocol than HTTP, over loopback with real TLS. Threat N2 of `security.md`. */
import type { Socket as NodeSocket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Credential, clockOffset, createMemoryRefreshes, MAX_CHECK_BYTES } from '@claimcheck/core/hosting'
import { credential } from '@claimcheck/core/plugin'
import type { CheckGuard } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import {
  AUTHORITY,
  code,
  greeting,
  guardOf,
  mailboxAt,
  OTHER,
  outboundTo,
  resolveTo,
  serve,
  serveSockets,
  serveTls,
} from '../support/loopback.ts'
import { talker } from '../support/talker.ts'

interface Place {
  /** `127.0.0.1:port` */
  readonly host: string
  readonly over?: Partial<CheckGuard>
  readonly tls?: boolean
  readonly name?: string
  readonly allowPrivate?: string[]
}

/** A check that may connect to the port of a server on loopback under the name `inner.example`. */
function checkOf(t: Test, { host, over = {}, tls = true, name = 'inner.example', allowPrivate }: Place) {
  const port = Number(host.split(':')[1])
  const url = `${tls ? 'tls' : 'tcp'}://${name}:${port}`
  const outbound = outboundTo(t, allowPrivate ?? [`${name}:${port}`], {
    resolver: resolveTo('127.0.0.1'),
    ca: AUTHORITY,
  })
  const reach = { hosts: ['connection.url'], sockets: [mailboxAt(port, tls)], mayReveal: false }
  return { url, port, check: outbound.forCheck(guardOf(url, { reach, ...over })) }
}

/** A mailbox, which answers with what it was asked. */
const mailbox = greeting((socket) => {
  let rest = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop()!
    for (const line of lines) {
      const [tag, command] = line.split(' ')
      if (command === 'LOGOUT') socket.end(`* BYE\r\n${tag} OK\r\n`)
      else socket.write(`${tag} OK ${line}\r\n`)
    }
  })
})

for (const tls of [true, false]) {
  t.test(`a check reads a mailbox ${tls ? 'over TLS' : 'in plain, where the operator allows it'}`, async (t) => {
    const host = await (tls ? serveTls(t, mailbox) : serveSockets(t, mailbox))
    const secrets = new Map([['secret:password', 's3cret-pass']])
    const { check, url } = checkOf(t, { host, tls, over: { secrets } })
    const { line, say } = talker(await check.connect(url))
    t.equal(check.answers(), 1, 'it greeted')
    check.again()
    await say('a EXAMINE secret:password')
    t.equal(check.answers(), 0)
    t.equal(await line(), 'a OK a EXAMINE secret:password', 'a handle stays what it is')
    t.equal(check.answers(), 1, 'a connection counts once, by what was asked last')
    await say('b LOGOUT')
    t.strictSame([await line(), await line(), await line()], ['* BYE', 'b OK', undefined])
    t.match(check.readings(), { isUndated: true, sentAt: Number })
    t.equal(clockOffset(check.readings()), undefined, 'nothing tells its clock')
    t.equal(check.breach(), undefined)
  })
}

const SMUGGLED: readonly (readonly [what: string, text: string | Uint8Array])[] = [
  ['a command that is not declared', 'a FETCH 1 FLAGS\r\n'],
  ['a command without a tag', 'NOOP\r\n'],
  ['a second command behind a declared one', 'a NOOP\r\nb CREATE x\r\n'],
  ['a line feed within an argument', 'a EXAMINE x\nb NOOP\r\n'],
  ['a carriage return within an argument', 'a EXAMINE x\rb NOOP\r\n'],
  ['NUL within an argument', 'a EXAMINE x\0y\r\n'],
  ['what is no ASCII', 'a EXAMINE gr\u00fcn\r\n'],
  ['bytes above ASCII', new Uint8Array([...Buffer.from('a EXAMINE x'), 0x8a, 13, 10])],
  ['a line without its end', 'a NOOP'],
  ['nothing', ''],
]
for (const [what, text] of SMUGGLED) {
  t.test(`${what} is not written`, async (t) => {
    let seen = ''
    const host = await serveSockets(
      t,
      greeting((socket) => socket.on('data', (chunk) => (seen += chunk))),
    )
    const { check, url } = checkOf(t, { host, tls: false })
    const { writable } = await check.connect(url)
    const writer = writable.getWriter()
    t.equal(await code(writer.write(Buffer.from(text))), 'breach')
    await t.rejects(writer.write(Buffer.from('a NOOP\r\n')), 'nor what comes after it')
    t.ok(check.breach())
    await setTimeout(20)
    t.equal(seen, '')
  })
}

t.test('a token is not asked for where the login that needs it is refused', async (t) => {
  let asked = 0
  const host = await serve(t, (_, response) => {
    asked++
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: 't0ken-of-the-mailbox', token_type: 'Bearer', expires_in: 3600 }))
  })
  const place = await serveTls(t, mailbox)
  const port = place.split(':')[1]
  const scheme = { scheme: 'oauth2', tokenUrl: 'http://{option.token_host}/token' }
  const account = { ...scheme, grant: 'clientCredentials', clientId: 'id', clientSecret: 'secret' } as Credential
  const options = { url: `tls://inner.example:${port}`, token_host: host, id: 'reader', secret: 's3cret-pass' }
  const refreshes = createMemoryRefreshes()
  const connected = { id: 'conn_1', options, credentials: { account }, tokenHosts: [host], refreshes }
  const secrets = new Map([['secret:secret', 's3cret-pass']])
  const over = { secrets, connected }
  const { check, url } = checkOf(t, { host: place, over, allowPrivate: [`inner.example:${port}`, host] })
  const login = { mechanism: 'xoauth2', user: 'ann', secret: credential('account') } as const
  t.equal(await code(check.connect(url, { login: { ...login, mechanism: 'oauthbearer' as never } })), 'breach')
  t.equal(await code(check.query(url, { statement: 'a', database: 'b', login })), 'breach')
  t.equal(asked, 0)
})

t.test('the certificate has to be of the name, and of an authority that is trusted', async (t) => {
  const foreign = await serveTls(t, mailbox, OTHER)
  t.equal(
    await code(checkOf(t, { host: foreign }).check.connect(`tls://inner.example:${foreign.split(':')[1]}`)),
    'unavailable',
  )
  const host = await serveTls(t, mailbox)
  const port = Number(host.split(':')[1])
  const url = `tls://inner.example:${port}`
  const guard = guardOf(url, {
    reach: { hosts: ['connection.url'], sockets: [mailboxAt(port, true)], mayReveal: false },
  })
  const untrusting = outboundTo(t, ['inner.example'], { resolver: resolveTo('127.0.0.1') })
  t.equal(await code(untrusting.forCheck(guard).connect(url)), 'unavailable')
  const byAddress = checkOf(t, { host, name: '127.0.0.1' })
  t.equal(await code(byAddress.check.connect(byAddress.url)), 'no error', 'an address that is in the certificate')
})

t.test('a certificate is verified also where the environment says that it is not', async (t) => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  const { check, url } = checkOf(t, { host: await serveTls(t, mailbox, OTHER) })
  t.equal(await code(check.connect(url)), 'unavailable')
})

t.test('only a port that the manifest declares is connected to, with TLS as it says', async (t) => {
  const host = await serveSockets(t, () => t.fail('it was reached'))
  const port = Number(host.split(':')[1])
  for (const sockets of [undefined, [], [mailboxAt(port + 1, false)], [mailboxAt(port, true)]]) {
    const reach = { hosts: ['connection.url'], mayReveal: false, ...(sockets && { sockets }) }
    const { check, url } = checkOf(t, { host, tls: false, over: { reach } })
    t.equal(await code(check.connect(url)), 'breach')
    t.ok(check.breach())
  }
})

t.test('only a port that the workspace typed is connected to, or any declared one where it typed none', async (t) => {
  const hosts = [await serveTls(t, mailbox), await serveTls(t, mailbox)]
  const [port, other] = hosts.map((host) => Number(host.split(':')[1])) as [number, number]
  const sockets = [mailboxAt(port, true), mailboxAt(other, true)]
  for (const [typed, expected] of [
    [`tls://inner.example:${port}`, ['no error', 'breach']],
    ['inner.example', ['no error', 'no error']],
    ['https://inner.example', ['breach', 'breach']],
  ] as const) {
    const origin = typed.startsWith('https') ? typed : `tls://inner.example:${port}`
    const seen = [port, other].map((at) => {
      const reach = { hosts: ['connection.url'], sockets, mayReveal: false }
      const connected = { id: 'conn_1', options: { url: typed } }
      const outbound = outboundTo(t, ['inner.example'], { resolver: resolveTo('127.0.0.1'), ca: AUTHORITY })
      return code(outbound.forCheck(guardOf(origin, { reach, connected })).connect(`tls://inner.example:${at}`))
    })
    t.strictSame(await Promise.all(seen), expected, typed)
  }
})

t.test('only the host of the base address is connected to', async (t) => {
  const host = await serveSockets(t, () => t.fail('it was reached'))
  const { check, port } = checkOf(t, { host, tls: false, allowPrivate: ['inner.example', 'localhost', '127.0.0.1'] })
  for (const url of [
    `tcp://localhost:${port}`,
    `tcp://127.0.0.1:${port}`,
    `tcp://inner.example.:${port}`,
    `tcp://a@inner.example:${port}`,
    `tcp://inner.example:${port}/path`,
    'tcp://inner.example',
    `http://inner.example:${port}`,
    `ssh://inner.example:${port}`,
    `tcp://inner.example:0`,
    `tcp://inner.example:99999`,
    'nonsense',
  ]) {
    t.equal(await code(check.connect(url)), 'unavailable', url)
  }
  t.equal(check.breach(), undefined)
})

t.test('the base address of a socket is read by no request of HTTP', async (t) => {
  const { check, port } = checkOf(t, { host: await serveSockets(t, () => t.fail('it was reached')), tls: false })
  t.equal(await code(check.fetch(`http://inner.example:${port}/`)), 'unavailable')
})

t.test('private addresses, and connections without TLS, are for what the operator allows', async (t) => {
  const host = await serveTls(t, () => t.fail('it was reached'))
  for (const [tls, name] of [
    [true, 'inner.example'],
    [true, '127.0.0.1'],
    [true, '0x7f.1'],
    [true, '[::1]'],
    [false, 'inner.example'],
  ] as const) {
    const { check, url } = checkOf(t, { host, tls, name, allowPrivate: ['elsewhere.example'] })
    t.equal(await code(check.connect(url)), 'unavailable', url)
  }
  const { check, url } = checkOf(t, { host, tls: false, allowPrivate: [] })
  t.equal(await code(check.connect(url)), 'unavailable', 'a public name, in plain')
})

t.test('a name that is aimed elsewhere between two lookups is not followed', async (t) => {
  const host = await serveTls(t, () => t.fail('it was reached'))
  const port = Number(host.split(':')[1])
  const answers = ['8.8.8.8', '127.0.0.1']
  const outbound = outboundTo(t, [], {
    resolver: (_hostname, _options, done) => done(null, [{ address: answers.shift()!, family: 4 }]),
  })
  const origin = `tls://rebound.example:${port}`
  t.strictSame(await outbound.addressesOf(origin), ['8.8.8.8'])
  const reach = { hosts: ['connection.url'], sockets: [mailboxAt(port, true)], mayReveal: false }
  t.equal(await code(outbound.forCheck(guardOf(origin, { reach })).connect(origin)), 'unavailable')
  t.strictSame(answers, [])
})

t.test('a server that never completes the connection costs five seconds, or less if the check ends', async (t) => {
  const host = await serveSockets(t, () => {})
  const begun = Date.now()
  const timer = new AbortController()
  const ended = checkOf(t, { host, over: { timer } })
  const connecting = code(ended.check.connect(ended.url))
  await setTimeout(100)
  timer.abort()
  t.equal(await connecting, 'timeout')
  t.ok(Date.now() - begun < 4000, 'before the time for a connection is over')
  const { check, url } = checkOf(t, { host })
  t.equal(await code(check.connect(url)), 'timeout')
})

t.test('nobody at home, and a reset, are unavailable', async (t) => {
  const away = checkOf(t, { host: '127.0.0.1:1', tls: false })
  t.equal(await code(away.check.connect(away.url)), 'unavailable')
  const host = await serveSockets(
    t,
    greeting((socket) => socket.once('data', () => socket.resetAndDestroy())),
  )
  const { check, url } = checkOf(t, { host, tls: false })
  const { line, say } = talker(await check.connect(url))
  await say('a NOOP')
  t.equal(await code(line()), 'unavailable')
})

t.test('silence ends with the check', async (t) => {
  const timer = new AbortController()
  const closed: unknown[] = []
  const host = await serveSockets(
    t,
    greeting((socket) => socket.on('close', () => closed.push(socket))),
  )
  const { check, url } = checkOf(t, { host, tls: false, over: { timer } })
  const { line, say } = talker(await check.connect(url))
  const read = code(line())
  await setTimeout(50)
  timer.abort()
  t.equal(await read, 'timeout')
  await t.rejects(say('a NOOP'))
  for (let waited = 0; closed.length === 0 && waited < 1000; waited += 20) await setTimeout(20)
  t.equal(closed.length, 1, 'the server sees it')
  t.equal(await code(check.connect(url)), 'timeout', 'and nothing is opened after it')
})

t.test('a flood is read no further than the limit, and no faster than the plugin takes it', async (t) => {
  let sent = 0
  const flood = (socket: NodeSocket) => {
    const chunk = Buffer.alloc(64 * 1024)
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length
      sent += chunk.length
    }
    socket.on('drain', more).once('data', more)
  }
  const host = await serveSockets(t, greeting(flood))
  const { check, url } = checkOf(t, { host, tls: false, over: { limits: { bodyBytes: 1024 * 1024 } } })
  const { readable, writable } = await check.connect(url)
  await writable.getWriter().write(Buffer.from('a NOOP\r\n'))
  await setTimeout(300)
  const unread = sent
  await setTimeout(300)
  t.equal(sent, unread, 'it stands still while nobody reads')
  t.ok(unread < 16 * 1024 * 1024, `${unread} bytes are on their way`)
  let read = 0
  const drained = (async () => {
    for await (const chunk of readable) read += chunk.length
  })()
  t.equal(await code(drained), 'too_large')
  t.ok(read <= 1024 * 1024)
})

t.test('a check opens four connections, of the requests that it may make', async (t) => {
  const host = await serveSockets(t, greeting())
  const { check, url } = checkOf(t, { host, tls: false })
  for (let opened = 0; opened < 4; opened++) await (await check.connect(url)).close()
  t.equal(await code(check.connect(url)), 'unavailable')
  const few = checkOf(t, { host, tls: false, over: { limits: { requests: 1 } } })
  await few.check.connect(few.url)
  t.equal(await code(few.check.connect(few.url)), 'unavailable')
})

t.test('what is written is bounded, and has to be bytes', async (t) => {
  const host = await serveSockets(
    t,
    greeting((socket) => socket.resume()),
  )
  const { check, url } = checkOf(t, { host, tls: false })
  const large = (await check.connect(url)).writable.getWriter()
  const lines = Buffer.from(`a EXAMINE ${'x'.repeat(244)}\r\n`.repeat(256))
  t.equal(await code(large.write(lines)), 'no error')
  t.equal(await code(large.write(Buffer.from('a NOOP\r\n'))), 'breach')
  const text = (await check.connect(url)).writable.getWriter()
  t.equal(await code(text.write('text' as never)), 'breach')
})

t.test('both ends may close: the readable ends, and close returns', async (t) => {
  const host = await serveSockets(
    t,
    greeting((socket) => socket.end('bye')),
  )
  const { check, url } = checkOf(t, { host, tls: false })
  const socket = await check.connect(url)
  t.equal(await new Response(socket.readable).text(), 'bye')
  await socket.close()
  await socket.close()
  const deaf = await serveSockets(
    t,
    greeting((socket) => socket.pause()),
  )
  const other = checkOf(t, { host: deaf, tls: false })
  const open = await other.check.connect(other.url)
  await open.close()
})

t.test('what connections bring counts for all that a check reads, also when it is made again', async (t) => {
  const mib = Buffer.alloc(4 * 1024 * 1024)
  const host = await serveSockets(
    t,
    greeting((socket) => socket.once('data', () => socket.end(mib))),
  )
  let paced = 0
  const pace = (bytes: number) => {
    paced += bytes
    return undefined
  }
  const { check, url } = checkOf(t, { host, tls: false, over: { pace } })
  const read = async () => {
    const { readable, writable } = await check.connect(url)
    await writable.getWriter().write(Buffer.from('a NOOP\r\n'))
    for await (const _ of readable as unknown as AsyncIterable<Uint8Array>);
  }
  for (let times = 0; times < 8; times++) {
    if (times === 4) check.again()
    t.equal(await code(read()), 'no error')
  }
  t.equal(paced, MAX_CHECK_BYTES)
  check.again()
  t.equal(await code(read()), 'too_large')
})

t.test('what is written to IMAP is judged in the time that its length takes', async (t) => {
  const host = await serveSockets(t, greeting())
  const port = Number(host.split(':')[1])
  const grant = { port, tls: false, protocol: 'imap', commands: ['FETCH', 'LIST'] } as const
  const reach = { hosts: ['connection.url'], sockets: [grant], mayReveal: false }
  for (const line of [`a FETCH 1 ${'['.repeat(8000)}`, `a LIST ${'\\"'.repeat(4000)}`]) {
    const times: number[] = []
    // The best of some: a machine may be busy.
    for (let tries = 0; tries < 4; tries++) {
      const { check, url } = checkOf(t, { host, tls: false, over: { reach } })
      const writer = (await check.connect(url)).writable.getWriter()
      const begun = process.cpuUsage()
      t.equal(await code(writer.write(Buffer.from(`${line}\r\n`))), 'breach')
      times.push(process.cpuUsage(begun).user)
    }
    t.ok(Math.min(...times) < 40_000, `${times} µs`)
  }
})
