/** Which address counts as the client's: by real requests over sockets, and in every form that a client may write. Threat N3 of `security.md`. */
import type { TrustedProxies } from '@claimcheck/server/config/trust-proxy'
import { networkOf } from '@claimcheck/server/http/network'
import { NO_ADDRESS, plainAddress, proxiesIn } from '@claimcheck/server/http/proxies'
import t, { type Test } from 'tap'
import { exchange, startApp } from './support/server.ts'

/** The client's address as the service reads it in a request with these header lines. */
async function seen(t: Test, trustProxy: TrustedProxies): Promise<(...lines: string[]) => Promise<string>> {
  const app = await startApp({
    trustProxy,
    more: [{ scope: 'own', cost: 'small', add: (app) => void app.get('/ip', async ({ ip }) => ({ ip })) }],
  })
  t.teardown(app.close)
  return async (...lines) => {
    const head = ['GET /ip HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines]
    const answer = await exchange(app.port, `${head.join('\r\n')}\r\n\r\n`)
    return JSON.parse(answer.slice(answer.indexOf('{'))).ip
  }
}

const REAL = '198.51.100.7'

t.test('what a client writes itself is believed under no setting', async (t) => {
  // The last proxy appends the address that it sees: the rows are what arrives when a client wrote the rest.
  const written = [
    [`X-Forwarded-For: 192.0.2.1, ${REAL}`],
    [`X-Forwarded-For: 127.0.0.1, 10.0.0.1, ${REAL}`],
    [`X-Forwarded-For: ::1,${REAL}`],
    ['X-Forwarded-For: 192.0.2.1', `X-Forwarded-For: ${REAL}`],
    ['x-forwarded-for: 127.0.0.1', `X-FORWARDED-FOR: ,, ${REAL}`],
    [`X-Forwarded-For: "192.0.2.1", ;=%00, ${REAL}`],
    [`X-Forwarded-For: 192.0.2.1:80, ${REAL}:51234`],
    [`X-Forwarded-For: 192.0.2.1\t,\t${REAL}\t`],
    [`X-Forwarded-For: ${Array.from({ length: 500 }, () => '127.0.0.1').join()}, ${REAL}`],
    ['Forwarded: for=192.0.2.1', 'X-Real-IP: 192.0.2.1', `X-Forwarded-For: ${REAL}`],
  ]
  for (const trusted of [1, ['127.0.0.1'], ['loopback'], ['::ffff:127.0.0.0/104'], ['fd00::/8', '127.0.0.0/8']]) {
    const read = await seen(t, trusted)
    for (const lines of written) t.equal(await read(...lines), REAL, `${trusted}: ${lines.join(' | ')}`)
  }
})

t.test('nobody is believed while no proxy is trusted, or another one', async (t) => {
  for (const trusted of [0, ['10.0.0.0/8'], ['::1']]) {
    const read = await seen(t, trusted)
    t.equal(await read(`X-Forwarded-For: ${REAL}`), '127.0.0.1')
    t.equal(await read(), '127.0.0.1')
  }
})

t.test('several proxies are counted, or named, from the right', async (t) => {
  const two = await seen(t, 2)
  t.equal(await two(`X-Forwarded-For: 192.0.2.1, ${REAL}, 10.0.0.9`), REAL)
  t.equal(await two(`X-Forwarded-For: 192.0.2.1, 127.0.0.1, ${REAL}, 127.0.0.1`), REAL)

  const named = await seen(t, ['loopback', '10.0.0.0/8', 'fd00::/8'])
  t.equal(await named(`X-Forwarded-For: 192.0.2.1, ${REAL}, 10.0.0.9`), REAL)
  t.equal(await named(`X-Forwarded-For: 192.0.2.1, ${REAL}, 10.0.0.9, fd00::3, ::ffff:10.1.2.3`), REAL)
  t.equal(await named('X-Forwarded-For: 10.0.0.1, 192.0.2.1, nonsense, 10.0.0.9'), NO_ADDRESS, 'no address is no proxy')
})

t.test('ports, brackets and mapped addresses are read as one address', async (t) => {
  const read = await seen(t, 1)
  for (const [written, address] of [
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['192.0.2.1:1', '192.0.2.1'],
    ['_hidden', NO_ADDRESS],
    ['2130706433', NO_ADDRESS],
    ['0x7f.0.0.1', NO_ADDRESS],
    ['127.1', NO_ADDRESS],
  ] as const) {
    t.equal(await read(`X-Forwarded-For: 192.0.2.99, ${written}`), address, written)
    t.equal(plainAddress(written), address)
  }
  t.equal(networkOf(plainAddress('[::ffff:192.0.2.1]:80')), '192.0.2.1')
  t.equal(networkOf(plainAddress('[::ffff:c000:201]')), '192.0.2.1')
})

t.test('networks take addresses in either notation, and nothing else', async (t) => {
  const isProxy = proxiesIn(['10.0.0.0/8', '2001:db8::1', 'linklocal'])
  for (const address of [
    '10.255.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '2001:db8:0::1',
    'fe80::1%eth0',
    '169.254.1.1',
  ])
    t.ok(isProxy(address, 5), address)
  for (const address of ['11.0.0.1', '2001:db8::2', '::a00:1', '', NO_ADDRESS, '10.0.0.1:80', '10.0.0'])
    t.notOk(isProxy(address, 0), address)
})
