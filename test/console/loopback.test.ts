/** Without PUBLIC_URL there is one origin, `localhost`: in links, for the console, and as the issuer towards applications. */
import { get } from 'node:http'
import { json } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { Application, OAUTH } from '../support/application.ts'
import { Installation } from '../support/installation.ts'

async function started(t: Test, env: Record<string, string> = {}) {
  const installation = await Installation.during(t, { env, file: { oauth: OAUTH } })
  const port = Number(new URL(installation.url).port)
  /** What a client is answered that names this host. */
  const ask = (path: string, host: string) =>
    new Promise<{ status: number; location: string | undefined; body: Record<string, unknown> }>((resolve, reject) => {
      const request = get({ port, path, host: '127.0.0.1', headers: { host, accept: 'application/json' } })
      request.on('error', reject).on('response', async (response) => {
        const { statusCode, headers } = response
        const body = await json(response).catch(() => ({}))
        resolve({ status: statusCode!, location: headers.location, body: body as Record<string, unknown> })
      })
    })
  return { installation, port, ask }
}

t.test('pages that are asked for at an IP address of this machine are at localhost', async (t) => {
  const { installation, port, ask } = await started(t)
  t.equal(installation.url, `http://localhost:${port}`)
  const path = '/console/sign-in?next=/console/account'
  for (const host of [`127.0.0.1:${port}`, `127.0.0.2:${port}`, `[::1]:${port}`]) {
    t.match(await ask(path, host), { status: 302, location: `http://localhost:${port}${path}` }, host)
  }
  t.match(await ask('/console', '127.0.0.1:9999'), { location: 'http://localhost:9999/console' }, 'as a tunnel has it')
  t.match(await ask('//evil.example/console/x', `127.0.0.1:${port}`), { status: 404 })
  for (const host of [`localhost:${port}`, `192.0.2.7:${port}`]) t.match(await ask(path, host), { status: 200 }, host)
})

t.test('the API answers under every name, and names one issuer', async (t) => {
  const { installation, port, ask } = await started(t)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    t.match(await ask('/healthz', host), { status: 200 })
    const { body } = await ask('/.well-known/oauth-authorization-server', host)
    t.equal(body.issuer, installation.url)
    t.equal(new URL(String(body.authorization_endpoint)).origin, installation.url)
  }
})

t.test('applications sign in at the issuer: at 127.0.0.1 they are led there, and elsewhere it is said', async (t) => {
  const { installation, port, ask } = await started(t)
  const path = new Application().request()
  t.match(await ask(path, `127.0.0.1:${port}`), { status: 302, location: installation.url + path })
  t.match(await ask(path, `192.0.2.7:${port}`), { status: 400 })
})

t.test('with PUBLIC_URL nobody is led to localhost', async (t) => {
  const { port, ask } = await started(t, { PUBLIC_URL: 'https://claims.example.com' })
  t.match(await ask('/console/sign-in', `127.0.0.1:${port}`), { status: 200 })
})
