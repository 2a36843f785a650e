// Test run: every-node
/** Connections of checks that speak another protocol than HTTP, over loopback with real TLS. Threat N2 of `security.md`. */
import type { Socket as NodeSocket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { clockOffset, createMemoryRefreshes } from '@claimcheck/core/hosting'
import { type Credential, credential, MAX_CHECK_BYTES } from '@claimcheck/core/plugin'
import type { CheckGuard } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import {
  AUTHORITY,
  anySocket,
  code,
  guardOf,
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
  readonly lines?: readonly string[]
  readonly clock?: string
}

/** A check that may connect to the port of a server on loopback under the name `inner.example`. */
function checkOf(
  t: Test,
  { host, over = {}, tls = true, name = 'inner.example', allowPrivate, lines = ['*'], clock }: Place,
) {
  const port = Number(host.split(':')[1])
  const url = `${tls ? 'tls' : 'tcp'}://${name}:${port}`
  const outbound = outboundTo(t, allowPrivate ?? [`${name}:${port}`], {
    resolver: resolveTo('127.0.0.1'),
    ca: AUTHORITY,
  })
  const grant = { port, tls, protocol: 'custom', lines, ...(clock === undefined ? {} : { clock }) } as const
  const reach = { hosts: ['connection.url'], sockets: [grant], mayReveal: false }
  return { url, port, check: outbound.forCheck(guardOf(url, { reach, ...over })) }
}

const READING = ['DATE', 'GROUP *', 'QUIT']

/** A server of news: it greets, and tells the time and the sizes of groups. */
function news(socket: NodeSocket): void {
  socket.setEncoding('utf8').write('200 ready\r\n')
  let rest = ''
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (line === 'DATE') socket.write(`111 ${dateOf(Date.now() + AHEAD_MS)}\r\n`)
      else if (line.startsWith('GROUP ')) socket.write(`211 7 1 7 ${line.slice(6)}\r\n`)
      else if (line === 'QUIT') socket.end('205 bye\r\n')
      else socket.write('500 what?\r\n')
    }
  })
}

const AHEAD_MS = 7_000
const dateOf = (at: number) => new Date(at).toISOString().replaceAll(/[-T:]|\..*/g, '')

for (const tls of [true, false]) {
  t.test(
    `a check speaks a protocol of lines ${tls ? 'over TLS' : 'in plain, where the operator allows it'}, without any secret`,
    async (t) => {
      const host = await (tls ? serveTls(t, news) : serveSockets(t, news))
      const secrets = new Map([['secret:password', 's3cret-pass']])
      const { check, url } = checkOf(t, { host, tls, lines: READING, over: { secrets } })
      const { line, say } = talker(await check.connect(url))
      t.equal(check.answers(), 0, 'it is open, and nothing came')
      t.equal(await line(), '200 ready')
      t.equal(check.answers(), 1)
      check.again()
      await say('GROUP secret:password')
      t.equal(check.answers(), 0)
      t.equal(await line(), '211 7 1 7 secret:password', 'a handle stays what it is')
      t.equal(check.answers(), 1, 'a connection counts once, by what was asked last')
      await say('QUIT')
      t.strictSame([await line(), await line()], ['205 bye', undefined])
      t.match(check.readings(), { isUndated: true, sentAt: Number })
      t.equal(clockOffset(check.readings()), undefined, 'nothing tells its clock')
      t.equal(check.breach(), undefined)
    },
  )
}

t.test('a declared line tells the clock of the destination', async (t) => {
  const { check, url } = checkOf(t, { host: await serveTls(t, news), lines: READING, clock: 'DATE' })
  const { line, say } = talker(await check.connect(url))
  await line()
  t.match(check.readings(), { isUndated: false, ahead: undefined }, 'it did not tell it yet')
  await say('DATE')
  t.match(await line(), /^111 /)
  const offset = clockOffset(check.readings())!
  t.ok(offset >= AHEAD_MS && offset < AHEAD_MS + 3000, String(offset))
  const silent = checkOf(t, { host: await serveTls(t, news), lines: READING, clock: 'QUIT' })
  const other = talker(await silent.check.connect(silent.url))
  await other.line()
  await other.say('QUIT')
  await other.line()
  t.match(silent.check.readings(), { isUndated: true })
})

const SMUGGLED: readonly (readonly [what: string, text: string | Uint8Array])[] = [
  ['a line that is not declared', 'POST\r\n'],
  ['a declared line in lower case', 'quit\r\n'],
  ['a second line behind a declared one', 'QUIT\r\nPOST\r\n'],
  ['a line feed within an argument', 'GROUP a\nPOST\r\n'],
  ['a carriage return within an argument', 'GROUP a\rPOST\r\n'],
  ['a line end within an argument', 'GROUP a\r\nPOST\r\n'],
  ['two words for one', 'GROUP a b\r\n'],
  ['no word', 'GROUP \r\n'],
  ['NUL within an argument', 'GROUP a\0b\r\n'],
  ['what is no ASCII', 'GROUP gr\u00fcn\r\n'],
  ['bytes above ASCII', new Uint8Array([...Buffer.from('GROUP a'), 0x8a, 13, 10])],
  ['a line without its end', 'QUIT'],
  ['nothing', ''],
]
for (const [what, text] of SMUGGLED) {
  t.test(`${what} is not written`, async (t) => {
    let seen = ''
    const host = await serveSockets(t, (socket) => socket.on('data', (chunk) => (seen += chunk)))
    const { check, url } = checkOf(t, { host, tls: false, lines: READING })
    const { writable } = await check.connect(url)
    const writer = writable.getWriter()
    t.equal(await code(writer.write(Buffer.from(text))), 'breach')
    await t.rejects(writer.write(Buffer.from('QUIT\r\n')), 'nor what comes after it')
    t.ok(check.breach())
    await setTimeout(20)
    t.equal(seen, '')
  })
}

t.test('a pattern with many words is matched at once, and a line has as many', async (t) => {
  const lines = [`${'*a'.repeat(12)}*`]
  const host = await serveSockets(t, () => {})
  const written = async (text: string) => {
    const { check, url } = checkOf(t, { host, tls: false, lines })
    const { writable } = await check.connect(url)
    return code(writable.getWriter().write(Buffer.from(`${text}\r\n`)))
  }
  t.equal(await written('b'.repeat(3000)), 'breach')
  t.equal(await written(`${'a'.repeat(3000)} `), 'breach')
  t.equal(await written('a'.repeat(8000)), 'breach', 'words of this length are not declared')
  t.not(await written(`${'xa'.repeat(12)}x`), 'breach')
})

t.test('a protocol that the host does not speak takes no login, and one that it speaks no other', async (t) => {
  const secrets = new Map([['secret:password', 's3cret-pass']])
  const login = { mechanism: 'plain', user: 'ann', secret: 'secret:password' } as const
  const { check, url } = checkOf(t, { host: await serveTls(t, news), over: { secrets } })
  t.equal(await code(check.connect(url, { login })), 'breach')
  t.equal(await code(check.query(url, { statement: 'a', database: 'b', login })), 'breach')
})

t.test('a token is not asked for where the login that needs it is refused', async (t) => {
  let asked = 0
  const host = await serve(t, (_, response) => {
    asked++
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: 't0ken-of-the-mailbox', token_type: 'Bearer', expires_in: 3600 }))
  })
  const place = await serveTls(t, news)
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
  t.equal(await code(check.connect(url, { login })), 'breach')
  t.equal(await code(check.query(url, { statement: 'a', database: 'b', login })), 'breach')
  t.equal(asked, 0)
})

t.test('the certificate has to be of the name, and of an authority that is trusted', async (t) => {
  const foreign = await serveTls(t, news, OTHER)
  t.equal(
    await code(checkOf(t, { host: foreign }).check.connect(`tls://inner.example:${foreign.split(':')[1]}`)),
    'unavailable',
  )
  const host = await serveTls(t, news)
  const port = Number(host.split(':')[1])
  const url = `tls://inner.example:${port}`
  const guard = guardOf(url, {
    reach: { hosts: ['connection.url'], sockets: [anySocket(port, true)], mayReveal: false },
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
  const { check, url } = checkOf(t, { host: await serveTls(t, news, OTHER) })
  t.equal(await code(check.connect(url)), 'unavailable')
})

t.test('only a port that the manifest declares is connected to, with TLS as it says', async (t) => {
  const host = await serveSockets(t, () => t.fail('it was reached'))
  const port = Number(host.split(':')[1])
  for (const sockets of [undefined, [], [anySocket(port + 1, false)], [anySocket(port, true)]]) {
    const reach = { hosts: ['connection.url'], mayReveal: false, ...(sockets && { sockets }) }
    const { check, url } = checkOf(t, { host, tls: false, over: { reach } })
    t.equal(await code(check.connect(url)), 'breach')
    t.ok(check.breach())
  }
})

t.test('only a port that the workspace typed is connected to, or any declared one where it typed none', async (t) => {
  const hosts = [await serveTls(t, news), await serveTls(t, news)]
  const [port, other] = hosts.map((host) => Number(host.split(':')[1])) as [number, number]
  const sockets = [anySocket(port, true), anySocket(other, true)]
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
  const reach = { hosts: ['connection.url'], sockets: [anySocket(port, true)], mayReveal: false }
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
  const host = await serveSockets(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  const { check, url } = checkOf(t, { host, tls: false })
  const { line, say } = talker(await check.connect(url))
  await say('hello')
  t.equal(await code(line()), 'unavailable')
})

t.test('silence ends with the check', async (t) => {
  const timer = new AbortController()
  const closed: unknown[] = []
  const host = await serveSockets(t, (socket) => socket.on('close', () => closed.push(socket)))
  const { check, url } = checkOf(t, { host, tls: false, over: { timer } })
  const { line, say } = talker(await check.connect(url))
  const read = code(line())
  await setTimeout(50)
  timer.abort()
  t.equal(await read, 'timeout')
  await t.rejects(say('still there?'))
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
    socket.on('drain', more)
    more()
  }
  const host = await serveSockets(t, flood)
  const { check, url } = checkOf(t, { host, tls: false, over: { limits: { bodyBytes: 1024 * 1024 } } })
  const { readable } = await check.connect(url)
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
  const host = await serveSockets(t, (socket) => socket.write('hello\r\n'))
  const { check, url } = checkOf(t, { host, tls: false })
  for (let opened = 0; opened < 4; opened++) await (await check.connect(url)).close()
  t.equal(await code(check.connect(url)), 'unavailable')
  const few = checkOf(t, { host, tls: false, over: { limits: { requests: 1 } } })
  await few.check.connect(few.url)
  t.equal(await code(few.check.connect(few.url)), 'unavailable')
})

t.test('what is written is bounded, and has to be bytes', async (t) => {
  const host = await serveSockets(t, (socket) => socket.resume())
  const { check, url } = checkOf(t, { host, tls: false })
  const large = (await check.connect(url)).writable.getWriter()
  const lines = Buffer.from(`${'a'.repeat(254)}\r\n`.repeat(256))
  t.equal(await code(large.write(lines)), 'no error')
  t.equal(await code(large.write(Buffer.from('a\r\n'))), 'breach')
  const text = (await check.connect(url)).writable.getWriter()
  t.equal(await code(text.write('text' as never)), 'breach')
})

t.test('both ends may close: the readable ends, and close returns', async (t) => {
  const host = await serveSockets(t, (socket) => socket.end('bye'))
  const { check, url } = checkOf(t, { host, tls: false })
  const socket = await check.connect(url)
  t.equal(await new Response(socket.readable).text(), 'bye')
  await socket.close()
  await socket.close()
  const deaf = await serveSockets(t, (socket) => socket.pause())
  const other = checkOf(t, { host: deaf, tls: false })
  const open = await other.check.connect(other.url)
  await open.close()
})

t.test('what connections bring counts for all that a check reads, also when it is made again', async (t) => {
  const mib = Buffer.alloc(4 * 1024 * 1024)
  const host = await serveSockets(t, (socket) => void socket.end(mib))
  let paced = 0
  const pace = (bytes: number) => {
    paced += bytes
    return undefined
  }
  const { check, url } = checkOf(t, { host, tls: false, over: { pace } })
  const read = async () => {
    const { readable } = await check.connect(url)
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
  const host = await serveSockets(t, (socket) => void socket.write('* OK ready\r\n'))
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
