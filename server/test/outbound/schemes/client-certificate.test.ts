// Test run: every-node
/** Certificates of the client: at servers of Node and at nginx, which let in who has the right one. Threat P9 of `security.md`. */
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { rootCertificates, type TLSSocket } from 'node:tls'
import { bearer, credential, header } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { freePort } from '../../../../test/support/free-port.ts'
import { findProgram } from '../../../../test/support/programs.ts'
import { longKey } from '../../support/long-key.ts'
import { AUTHORITY, code, INNER, OTHER, serve } from '../../support/loopback.ts'
import { startServer, temporaryFolder } from '../../support/service-process.ts'
import { spendingAt } from '../../support/spending.ts'

function through(
  t: Test,
  url: string,
  options: object = { certificate: INNER.cert, key: INNER.key, token: 't0ken-of-it' },
  ca: string | null = AUTHORITY,
) {
  return spendingAt(t, {
    url,
    credentials: {
      tls: { scheme: 'clientCertificate', certificate: 'certificate', key: 'key', authority: 'authority' },
    },
    options: { ...options },
    secret: ['certificate', 'key', 'token', 'authority'],
    ...(ca !== null && { ca }),
  })
}

async function mutual(t: Test, requests: (string | undefined)[] = []) {
  const open = new Set<TLSSocket>()
  const server = createServer(
    { ...INNER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      requests.push(request.headers.authorization)
      response.end((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
    },
  )
  server.on('secureConnection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, open }
}

t.test('a destination sees the certificate, with a token in a header where one is given', async (t) => {
  const requests: (string | undefined)[] = []
  const { url } = await mutual(t, requests)
  const check = through(t, url)()
  t.equal(await (await check.fetch(url)).text(), 'inner.example')
  t.equal((await check.fetch(url, { auth: bearer('secret:token') })).status, 200)
  t.strictSame(requests, [undefined, 'Bearer t0ken-of-it'])
})

t.test('a connection that was made with a certificate ends with its check, and serves no other', async (t) => {
  const { url, open } = await mutual(t)
  const timer = new AbortController()
  await (await through(t, url)({ timer }).fetch(url)).text()
  t.equal(open.size, 1)
  const [socket] = open
  timer.abort()
  await once(socket!, 'close')
  t.equal(open.size, 0)
  t.equal(await code(through(t, url, {})().fetch(url)), 'unavailable', 'another connection is not let in')
})

/** By the empty passphrase. Another one could say any number of rounds, which would keep the host busy. */
const LOCKED = String(
  createPrivateKey(INNER.key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: '' }),
)

t.test('what is no certificate, or lacks its key, does not connect, and no error repeats it', async (t) => {
  const { url } = await mutual(t)
  for (const options of [
    { certificate: 'no certificate', key: INNER.key },
    { certificate: OTHER.cert, key: INNER.key },
    { certificate: INNER.cert, key: 'no key' },
    { certificate: INNER.cert, key: longKey(8192) },
    { certificate: INNER.cert, key: LOCKED },
    { certificate: INNER.cert, key: LOCKED.replaceAll('ENCRYPTED ', '') },
    { certificate: INNER.cert },
    { key: INNER.key },
    { authority: 'no certificate' },
    { authority: INNER.key },
    { certificate: INNER.cert, key: INNER.key, authority: AUTHORITY.replaceAll('A', '!') },
  ]) {
    const error = await through(t, url, options)()
      .fetch(url)
      .catch((error: unknown) => error)
    t.equal((error as { code: string }).code, 'misconfigured')
    t.notOk(JSON.stringify(error, Object.getOwnPropertyNames(error)).includes('PRIVATE KEY'))
  }
})

t.test('what browsers make of PEM is a certificate, too', async (t) => {
  const { url } = await mutual(t)
  const inOneLine = ({ cert, key }: typeof INNER) => ({ certificate: oneLine(cert), key: oneLine(key) })
  t.equal((await through(t, url, inOneLine(INNER))().fetch(url)).status, 200)
})

const OTHER_AUTHORITY = `${rootCertificates[0]}\n`
const oneLine = (pem: string) => pem.replaceAll('\n', '')

t.test("an authority of the connection's own counts in place of the host's", async (t) => {
  const server = createServer(INNER, (_, response) => response.end())
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { url: mutualUrl } = await mutual(t)
  for (const [options, ca, expected, at = url] of [
    [{}, null, 'unavailable'],
    [{}, AUTHORITY, 'no error'],
    [{ authority: AUTHORITY }, null, 'no error'],
    [{ authority: oneLine(AUTHORITY) }, null, 'no error'],
    [{ authority: OTHER_AUTHORITY + AUTHORITY }, null, 'no error'],
    [{ authority: OTHER_AUTHORITY }, null, 'unavailable'],
    [{ authority: OTHER_AUTHORITY }, AUTHORITY, 'unavailable'],
    [{ authority: AUTHORITY, certificate: INNER.cert, key: INNER.key }, null, 'no error', mutualUrl],
    [{ authority: AUTHORITY }, null, 'unavailable', mutualUrl],
  ] as const)
    t.equal(await code(through(t, at, options, ca)().fetch(at)), expected, Object.keys(options).join())
})

t.test('a plugin does not get the key into a header, nor names the certificate', async (t) => {
  const host = await serve(t, (_, response) => response.end())
  const check = through(t, `http://${host}`)
  for (const auth of [header('x-key', 'secret:key'), bearer('secret:certificate'), credential('tls')])
    t.equal(await code(check().fetch(`http://${host}`, { auth })), 'breach')
})

const nginx = findProgram('nginx')
t.test('nginx', { skip: nginx === undefined ? 'there is no nginx: apt-get install nginx' : false }, async (t) => {
  const folder = temporaryFolder(t)
  const port = await freePort()
  for (const [name, text] of [
    ['cert.pem', INNER.cert],
    ['key.pem', INNER.key],
    ['ca.pem', AUTHORITY],
    [
      'nginx.conf',
      `daemon off; pid ${folder}/pid; error_log stderr; events {}
       http { access_log off; client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
         uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
         server { listen 127.0.0.1:${port} ssl; ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
           ssl_client_certificate ${folder}/ca.pem; ssl_verify_client on; location / { return 200 $ssl_client_s_dn; } } }`,
    ],
  ] as const)
    writeFileSync(join(folder, name), text)
  await startServer(t, nginx!, ['-p', folder, '-c', join(folder, 'nginx.conf')], port)
  const url = `https://127.0.0.1:${port}`
  t.match(await (await through(t, url)().fetch(url)).text(), /CN=inner\.example/)
  t.equal((await through(t, url, {})().fetch(url)).status, 400)
})
