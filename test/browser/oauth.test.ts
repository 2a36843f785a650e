// Test run: end-to-end, slow
/** An application that a person lets in, in a real browser: from its link over signing in and consent to whoami. Threat S4 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import t, { type Test as TapTest } from 'tap'
import { Application, CLIENT, OAUTH, whoami } from '../support/application.ts'
import { Installation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'
import { Visitor } from '../support/visitor.ts'
import { type BrowserContext, launchBrowser, openPage, signIn } from './browser.ts'

/** Where the callbacks of applications lead on to, as their sources have it: to what runs on the person's own machine. */
const LEADS_ON = {
  'Claude on a desktop': 'claude://claude.ai/mcp-auth-callback',
  Cursor: 'cursor://anysphere.cursor-mcp/oauth/callback',
  'Visual Studio Code, by its web page': 'vscode://dynamicauthprovider/127.0.0.1',
} as const

/** Where the application waits for the browser to come back. */
async function callback(t: TapTest) {
  const returned: URL[] = []
  const origin = await serving(t, (request, response) => {
    const url = new URL(request.url!, 'http://127.0.0.1')
    if (url.pathname === '/back') returned.push(url)
    const next = url.searchParams.get('on')
    if (next !== null) return response.writeHead(302, { location: next }).end()
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Backend</title><link rel="icon" href="data:,"><h1>Back at the application</h1>')
  })
  return { returned, origin }
}

/** As it registers itself. */
async function registered(url: string, name: string, redirectUri: string): Promise<Application> {
  const metadata = { client_name: name, redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/oauth/register`, { method: 'POST', headers, body: JSON.stringify(metadata) })
  const { client_id } = (await answer.json()) as { client_id: string }
  return new Application({ client_id, redirect_uris: [redirectUri] })
}

/** Waits for a request that the browser makes to an address that begins so. */
function requestsOf(context: BrowserContext) {
  const seen: string[] = []
  context.on('request', (request) => seen.push(request.url()))
  return async (start: string): Promise<URL> => {
    for (let tries = 0; tries < 100; tries++) {
      const found = seen.find((url) => url.startsWith(start))
      if (found !== undefined) return new URL(found)
      await setTimeout(50)
    }
    throw new Error(`nothing asked for ${start}: ${seen.join(' ')}`)
  }
}

t.test('applications', async (t) => {
  const { host } = await Installation.during(t, { file: { oauth: { ...OAUTH, dynamic_registration: true } } })
  const owner = await Visitor.first(host)
  const workspace = await owner.workspaceId()
  const browser = await launchBrowser(t)
  const { returned, origin } = await callback(t)
  const application = new Application({ ...CLIENT, redirect_uris: [`${origin}/back`] })
  const { page } = await openPage(t, browser, host.url, { alsoAt: [origin] })

  await t.test('a person signs in on the way, allows it, and is led back', async (t) => {
    await page.goto(application.request({ scope: 'claims:read connections:read' }))
    await signIn(page)
    await page.getByRole('heading', { name: /^Allow Backend/ }).waitFor()
    const text = await page.locator('main').innerText()
    for (const named of [CLIENT.client_name, 'claims:read', 'connections:read', host.url, 'acme']) t.match(text, named)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('Back at the application').waitFor()
    const { searchParams } = returned.at(-1)!
    t.equal(searchParams.get('state'), application.state)
    const { body } = await application.exchange(host, searchParams.get('code'))
    t.match(await whoami(host, body.access_token), {
      status: 200,
      body: {
        kind: 'oauth',
        workspace_id: workspace,
        scopes: ['claims:read', 'connections:read'],
        audience: `${host.url}/mcp`,
      },
    })

    await t.test('and stops it afterwards', async (t) => {
      await page.goto(`${host.url}/console/account`)
      await page.getByRole('link', { name: 'Connected applications' }).click()
      await page.getByRole('button', { name: /Stop|Revoke/ }).click()
      await page.getByText('The application is stopped.').waitFor()
      t.equal((await whoami(host, body.access_token)).status, 401)
    })
  })

  await t.test('an application that knows the service as 127.0.0.1 gets its answer, too', async (t) => {
    const elsewhere = `http://127.0.0.1:${new URL(host.url).port}`
    const { page } = await openPage(t, browser, host.url, { alsoAt: [origin, elsewhere] })
    await page.goto(elsewhere + application.request())
    await signIn(page)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('Back at the application').waitFor()
    const { body } = await application.exchange(host, returned.at(-1)!.searchParams.get('code'))
    t.match(await whoami(host, body.access_token), { status: 200 })
  })

  for (const [name, next] of Object.entries(LEADS_ON)) {
    await t.test(`${name}: the address that it named leads on to its own scheme`, async (t) => {
      const back = `${origin}/back?${new URLSearchParams({ on: next })}`
      const client = await registered(host.url, name, back)
      const { page, context } = await openPage(t, browser, host.url, { alsoAt: [origin, 'null'] })
      const asked = requestsOf(context)
      await page.goto(client.request())
      await signIn(page)
      await page.getByRole('button', { name: 'Allow', exact: true }).click()
      await asked(next)
      const { body } = await client.exchange(host, returned.at(-1)!.searchParams.get('code'))
      t.match(await whoami(host, body.access_token), { status: 200 })
    })
  }

  await t.test('an application whose address leads on to a loopback server gets its answer', async (t) => {
    const local = await callback(t)
    const client = await registered(host.url, 'Relayed', `${origin}/back?${new URLSearchParams({ on: local.origin })}`)
    const { page } = await openPage(t, browser, host.url, { alsoAt: [origin, local.origin] })
    await page.goto(client.request())
    await signIn(page)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('Back at the application').waitFor()
    t.equal(new URL(page.url()).origin, local.origin)
  })

  await t.test('an application that names its own scheme is asked to open, whether it is allowed or not', async (t) => {
    const client = await registered(host.url, 'Opened', 'cursor://anysphere.cursor-mcp/oauth/callback')
    for (const [button, member] of [
      ['Do not allow', 'error'],
      ['Allow', 'code'],
    ] as const) {
      const { page, context } = await openPage(t, browser, host.url, { alsoAt: ['null'] })
      const asked = requestsOf(context)
      await page.goto(client.request())
      await signIn(page)
      await page.getByRole('button', { name: button, exact: true }).click()
      t.ok((await asked('cursor://')).searchParams.has(member))
      t.match(await page.locator('main').innerText(), /continue to Opened/)
    }
  })

  await t.test('who does not allow it is led back with that', async (t) => {
    await page.goto(application.request())
    await page.getByRole('button', { name: 'Do not allow' }).click()
    await page.getByText('Back at the application').waitFor()
    t.equal(returned.at(-1)!.searchParams.get('error'), 'access_denied')
  })

  await t.test('a redirect that the application never named is told here, and not followed', async (t) => {
    const { page, expectStatus } = await openPage(t, browser, host.url)
    expectStatus(400)
    const before = returned.length
    await page.goto(application.request({ redirect_uri: 'https://evil.example/back' }))
    t.match(page.url(), host.url)
    t.match(await page.locator('main').innerText(), /redirect/i)
    t.equal(returned.length, before)
  })
})
