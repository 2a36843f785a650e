// Test run: end-to-end, slow
/**
 * Every page of the console in a real browser: nothing that axe finds, as wide as the screen, markup as text, and readable without scripts.
 * Threat W6 of `security.md`.
 */
import { resolve } from 'node:path'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import t, { type Test as TapTest } from 'tap'
import { Client } from '../support/client.ts'
import { connect } from '../support/connect.ts'
import { filled, routesOf } from '../support/console-routes.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { emailOf, Visitor } from '../support/visitor.ts'
import { launchBrowser, looksRight, openPage, type Page, SCREENS, signIn } from './browser.ts'

/** In every field that takes text. */
const MARKUP = `<img src=x class=pwned onerror=alert(1)>"'</script>&amp;`
const CALLBACK = 'https://backend.example/callback'

/** A workspace in which everything is there, and all of it is called as nothing should be. */
async function fullWorkspace(t: TapTest) {
  const plugins = [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }]
  const backend = { client_id: 'desk', client_name: MARKUP.slice(0, 100), redirect_uris: [CALLBACK] }
  const file = {
    rate_limits: { sign_in: 0 },
    oauth: { clients: [backend] },
    webhooks: { allow_private: ['127.0.0.1'] },
  }
  const env = { ALLOW_PRIVATE: '127.0.0.1' }
  const installation = await Installation.during(t, { plugins, file, env })
  const { host, claimcheck } = installation
  const owner = await Visitor.first(host)
  const workspace = await owner.workspaceId()
  const { members } = claimcheck
  await claimcheck.accounts.inviteToken(workspace, 'member', null)
  const member = await Visitor.joining(host, workspace, 'member', 'Mia')
  await member.get('/console/account')
  await member.post('/console/account/name', { name: MARKUP })
  const { id: key, key: secret } = await claimcheck.keys.create(workspace, MARKUP)
  await claimcheck.keys.revoke((await claimcheck.keys.create(workspace, 'old')).id)
  const limits = { expiresAt: Date.now() + 1_000_000, networks: ['::/0', '0.0.0.0/0'], agentIds: [`${MARKUP} bound`] }
  await claimcheck.keys.revoke((await claimcheck.keys.create(workspace, MARKUP, limits)).id)
  const { clientId: machine } = await claimcheck.machines.create(workspace, MARKUP, ['claims:read'])
  const { id: connection } = await connect(claimcheck, workspace, 'mailbox', { token: 'secret' })
  const url = 'http://127.0.0.1:9/'
  const filters = { ...NO_FILTERS, agents: [MARKUP], connections: [connection] }
  const { target: webhook } = await claimcheck.webhooks.add(workspace, { format: 'standard', url, filters })
  const client = new Client(host, workspace, secret)
  const fields = { agent_id: MARKUP, target: MARKUP }
  const minutes = (count: number) => new Date(Date.now() - count * 60_000).toISOString()
  const claims = [
    { params: { see: 'present' }, client_claim_id: MARKUP },
    { params: { see: 'absent' } },
    { params: { see: 'present' }, claimed_at: minutes(30) },
    { params: { see: 'forbidden' } },
    { action: 'other.thing.do', params: { text: MARKUP } },
  ]
  const ids = []
  for (const claim of claims) ids.push((await client.submit({ ...fields, ...claim })).body.claim_id as string)
  const mia = (await members.list(workspace)).find(({ email }) => email === emailOf('Mia'))!.id
  const values = {
    workspace,
    key,
    machine,
    connection,
    webhook: webhook.id,
    provider: 'mailbox',
    member: mia,
    claim_id: ids[0]!,
    agent_id: MARKUP,
  }
  return { installation, claimcheck, owner, values, claimIds: ids }
}

type World = Awaited<ReturnType<typeof fullWorkspace>>

/** Those that somebody who is signed in can open by their address. */
async function insidePages({ claimcheck, values, claimIds }: World): Promise<string[]> {
  const routes = (await routesOf(claimcheck)).filter(
    ({ method, url }) =>
      method === 'GET' &&
      !/^\/$|^\/console$|:token|:uid|\/callback$|\/sign-in$|developers\/(keys|agents\/release)$|\/retention\/change$|\/machines$|\/:webhook\/test$|\.(csv|json)$/.test(
        url,
      ),
  )
  const claims = `/console/w/${values.workspace}/claims`
  return [
    ...routes.map((route) => filled(route, values)),
    ...claimIds.map((id) => `${claims}/${id}`),
    `${claims}?verdict=unverifiable&q=x&from=2026-01-01`,
    `${claims}/new?action=test.outcome.reach`,
    `/console/w/${values.workspace}/developers/agents/release?${new URLSearchParams({ agent: `${MARKUP} bound` })}`,
  ]
}

/** With tokens that are good, for somebody who is not signed in. */
async function oidcPages({ claimcheck, values }: World): Promise<string[]> {
  const { accounts } = claimcheck
  return [
    '/console/sign-in',
    `/console/join/${await accounts.inviteToken(values.workspace, 'owner', null)}`,
    `/console/reset/${await accounts.resetToken(emailOf('owner'))}`,
  ]
}

function consentPath(): string {
  const query = new URLSearchParams({
    client_id: 'desk',
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'claims:read claims:submit',
    state: MARKUP,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  })
  return `/oauth/authorize?${query}`
}

async function enter(page: Page): Promise<void> {
  await page.goto('/console/sign-in')
  await signIn(page)
  await page.waitForURL('**/claims')
}

const HIGHEST_BAR = 64

async function isRight(t: TapTest, page: Page, path: string): Promise<void> {
  await page.goto(path)
  t.ok(await page.getByRole('heading', { level: 1 }).isVisible(), `${path} has a heading`)
  await looksRight(t, page, path)
  const { barHeight, hidden } = await page.evaluate(() => {
    const buttons = [...document.querySelectorAll('main :is(a.button, button)')]
    const isBeside = (one: Element) => one.getBoundingClientRect().right > window.innerWidth
    const hidden = buttons.filter(isBeside).map(({ outerHTML }) => outerHTML)
    return { barHeight: document.querySelector('header')!.offsetHeight, hidden }
  })
  t.ok(barHeight <= HIGHEST_BAR, `${path} has a bar of ${barHeight} px`)
  t.strictSame(hidden, [], `${path}: buttons are on the screen`)
  t.equal(await page.locator('.pwned').count(), 0, `${path}: markup is text`)
}

t.test('pages', async (t) => {
  const world = await fullWorkspace(t)
  const browser = await launchBrowser(t)
  const { url } = world.installation.host
  const inside = await insidePages(world)
  t.ok(inside.length >= 16, `${inside.length} pages`)

  for (const screen of SCREENS) {
    await t.test(`every page is right at ${screen.viewport.width} px, ${screen.colorScheme}`, async (t) => {
      const { page, expectStatus } = await openPage(t, browser, url, screen)
      page.on('dialog', (dialog) => t.fail(`markup ran: ${dialog.message()}`))
      for (const path of await oidcPages(world)) await isRight(t, page, path)
      await enter(page)
      for (const path of inside) await isRight(t, page, path)
      await isRight(t, page, consentPath())
      t.match(await page.locator('main').innerText(), '<img src=x', 'the name of the application')
      expectStatus(404)
      await isRight(t, page, '/console/nothing')
    })
  }

  await t.test('on a phone, the first claim is in view when the list opens', async (t) => {
    const { page } = await openPage(t, browser, url, { viewport: { width: 360, height: 640 } })
    await enter(page)
    const { y, height } = (await page.locator('tbody tr[id^="clm_"]').first().boundingBox())!
    t.ok(y + Math.min(height, 40) < 640, `it begins at ${y} px`)
    t.notOk(await page.locator('#filters').evaluate((filters) => (filters as HTMLDetailsElement).open))
    await page.goto(`${new URL(page.url()).pathname}?verdict=verified`)
    t.ok(await page.locator('select#verdict').isVisible(), 'a filter that is set is in sight')
  })

  await t.test('every page can be read without scripts', async (t) => {
    const { page } = await openPage(t, browser, url, { javaScriptEnabled: false })
    await enter(page)
    for (const path of inside) {
      await page.goto(path)
      t.ok(await page.getByRole('heading', { level: 1 }).isVisible(), path)
      t.equal(await page.locator('button.copy:visible').count(), 0, 'what would do nothing is not shown')
    }
    await page.setViewportSize({ width: 360, height: 640 })
    const way = page.getByRole('link', { name: 'Developers' })
    t.equal(await way.count(), 0, 'the menu is folded')
    await page.getByRole('button', { name: 'Menu' }).click()
    await way.click()
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Developers')
  })
})
