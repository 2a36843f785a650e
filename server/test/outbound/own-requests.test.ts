// Test run: every-node
/** Requests of the installation's own: of any method, held to the same places and bounds as those of checks. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'
import { collectGarbage } from '../../../test/support/garbage.ts'

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function outboundTo(t: Test, ...allowPrivate: string[]) {
  const outbound = createOutbound({ allowPrivate })
  t.teardown(() => outbound.close())
  return outbound
}

const POST = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'what was sent' }

t.test('what is allowed by name is sent to, with its body', async (t) => {
  const host = await serve(t, async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    response.end(`${request.method} ${request.headers['content-type']} ${text}`)
  })
  const response = await outboundTo(t, host).request(`http://${host}/`, POST)
  t.equal(await response.text(), 'POST text/plain what was sent')
})

t.test('what is private, or not https, is not sent to', async (t) => {
  const host = await serve(t, () => t.fail('it was reached'))
  const outbound = outboundTo(t)
  for (const url of [`http://${host}/`, `https://${host}/`, 'http://example.com/', 'https://u:p@example.com/', 'x']) {
    await t.rejects(outbound.request(url, POST), { code: 'unavailable' }, url)
  }
})

t.test('a redirect is an answer, and not followed', async (t) => {
  const host = await serve(t, (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end())
  t.equal((await outboundTo(t, host).request(`http://${host}/`, POST)).status, 302)
})

t.test('a body that never ends ends with the time of who asks, also when garbage is collected meanwhile', async (t) => {
  const host = await serve(t, (_request, response) => {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  })
  const outbound = outboundTo(t, host)
  const response = await outbound.request(`http://${host}/`, { ...POST, signal: AbortSignal.timeout(200) })
  collectGarbage()
  await t.rejects(response.text(), { code: 'timeout' })
})

t.test('who asks may stop waiting, and large answers are cut', async (t) => {
  const host = await serve(t, (request, response) => {
    if (request.url === '/large') response.end(Buffer.alloc(6 * 1024 * 1024))
  })
  const outbound = outboundTo(t, host)
  const signal = AbortSignal.timeout(50)
  await t.rejects(outbound.request(`http://${host}/silent`, { ...POST, signal }), { code: 'timeout' })
  const large = await outbound.request(`http://${host}/large`, POST)
  await t.rejects(large.text(), { code: 'too_large' })
})

const TEXT = { headers: { 'content-type': 'text/plain' }, body: 'what was sent', timeoutMs: 300 }

t.test('a post has the head of its answer, and keeps to the same places', async (t) => {
  let got = ''
  const host = await serve(t, async (request, response) => {
    for await (const chunk of request) got += chunk
    got += ` ${request.method} ${request.url} ${request.headers['content-type']} ${request.headers['user-agent']}`
    response.writeHead(302, { location: '/elsewhere', 'retry-after': '7' }).end('x'.repeat(100_000))
  })
  const head = await outboundTo(t, host).post(`http://${host}/a?b=c`, TEXT)
  t.match(head, { status: 302, headers: { 'retry-after': '7' } })
  t.match(got, /^what was sent POST \/a\?b=c text\/plain claimcheck\//)
  const outbound = outboundTo(t, 'localhost')
  for (const url of [`http://${host}/`, `https://${host}/`, 'http://example.com/', 'https://u:p@example.com/', 'x'])
    await t.rejects(outbound.post(url, TEXT), { code: 'unavailable' }, url)
  for (const port of [25, 465, 6667])
    await t.rejects(outbound.post(`http://localhost:${port}/`, TEXT), /not sent|unavailable/)
  await t.rejects(outbound.post('https://localhost/', { ...TEXT, headers: { 'x-bad': 'a\r\nb: c' } }), {
    code: 'unavailable',
  })
})

t.test('a post ends with its time, with who asks, and where the body of its answer does not end', async (t) => {
  const host = await serve(t, (request, response) => {
    if (request.url === '/silent') return
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  })
  const outbound = outboundTo(t, host)
  const begun = performance.now()
  t.match(await outbound.post(`http://${host}/endless`, TEXT), { status: 200 })
  await t.rejects(outbound.post(`http://${host}/silent`, TEXT), { code: 'timeout' })
  const ended = AbortSignal.timeout(50)
  await t.rejects(outbound.post(`http://${host}/silent`, { ...TEXT, timeoutMs: 60_000, ended }), {
    code: 'unavailable',
  })
  await t.rejects(outbound.post(`http://${host}/silent`, { ...TEXT, timeoutMs: 60_000, ended }), {
    code: 'unavailable',
  })
  t.ok(performance.now() - begun < 5000)
})
