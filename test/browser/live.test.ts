// Test run: end-to-end, slow
/** Pages that keep themselves up to date, in a browser: what they bring in, and what of somebody's doing they leave alone. */
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { type ClaimsConsole, claimsConsole } from '../support/claims-console.ts'
import { sharedInstallation } from '../support/installation.ts'
import { launchBrowser, type Page } from './browser.ts'

// Started first, so that the browser ends before it: a page that is open keeps a connection.
const shared = sharedInstallation()
await shared()

const browser = await launchBrowser({ teardown: afterFile })

async function open({ owner, installation }: ClaimsConsole, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 500 } })
  const cookies = [...owner.cookies].map(([name, value]) => ({ name, value, url: installation.url }))
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.clock.install()
  await page.goto(installation.url + path)
  return page
}

/** Lets the page's time pass, and what it asks for arrive. */
async function pass(page: Page, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await page.clock.runFor(1000)
    await page.waitForTimeout(20)
  }
}

/** How often it asks in so long a time. */
async function asked(page: Page, seconds: number): Promise<number> {
  let count = 0
  page.on('request', () => count++)
  await pass(page, seconds)
  return count
}

t.test('new claims come in by themselves, and leave focus, what is open and what is read where they are', async (t) => {
  const console = await claimsConsole(t, shared)
  const { client, path } = console
  const ids: string[] = []
  for (let count = 0; count < 30; count++) ids.push((await client.submit()).body.claim_id)
  const page = await open(console, path)
  const read = `#${ids[20]}`
  await page.locator('#chart-numbers summary').click()
  await page.locator(`${read} a.clamp`).focus()
  const top = () => page.evaluate((id) => document.querySelector(id)!.getBoundingClientRect().top, read)
  const before = await top()
  await page.locator(read).evaluate((row) => row.setAttribute('data-kept', ''))

  const arrived = (await client.submit()).body.claim_id
  await page.waitForSelector(`#${arrived}`)
  t.equal(await page.evaluate(() => document.activeElement?.closest('tr')?.id), ids[20])
  t.ok(await page.locator('#chart-numbers').evaluate((details) => (details as HTMLDetailsElement).open))
  t.ok(Math.abs((await top()) - before) < 2, 'what is read does not move')
  t.equal(await page.locator('[data-kept]').count(), 0, 'what the server does not say goes')
  t.equal(await page.locator('tbody tr[id]').first().getAttribute('id'), arrived)
})

t.test('text that somebody marks stays marked, and what has changed comes in afterwards', async (t) => {
  const console = await claimsConsole(t, shared)
  const { client, path } = console
  const { claim_id } = (await client.submit()).body
  const page = await open(console, path)
  await page.evaluate((id) => getSelection()!.selectAllChildren(document.getElementById(id)!), claim_id)
  const arrived = (await client.submit()).body.claim_id
  await page.waitForResponse((response) => response.url().endsWith('/claims'))
  await page.waitForTimeout(300)
  t.equal(await page.locator(`#${arrived}`).count(), 0)
  t.match(await page.evaluate(() => String(getSelection())), 'verified')
  await page.evaluate(() => getSelection()!.removeAllRanges())
  await page.waitForSelector(`#${arrived}`)
})

t.test('the page of a queued claim shows its receipt once it is decided, and asks no more', async (t) => {
  const console = await claimsConsole(t, shared)
  const { client, path } = console
  const params = { see: 'absent', later: { at: Date.now() + 2000, see: 'present' } }
  const { claim_id } = (await client.submit({ params })).body
  const page = await open(console, `${path}/${claim_id}`)
  await page.waitForSelector('text=./claimcheck verify', { timeout: 20_000 })
  t.ok(await page.locator('button[data-copy]').first().isVisible(), 'what has come can be copied')
  t.equal(await page.locator('[data-live]').count(), 0)
  t.equal(await asked(page, 10), 0)
})

t.test('whoever is signed out is told so, and the page asks no more', async (t) => {
  const console = await claimsConsole(t, shared)
  const { owner, client, path } = console
  await client.submit()
  const page = await open(console, path)
  await owner.get(path)
  await owner.post('/console/sign-out')
  await page.waitForSelector('#live-status:has-text("You are signed out")')
  t.equal(await page.locator('#live-status').getAttribute('role'), 'status')
  t.ok((await page.locator('tbody tr[id]').count()) > 0, 'what was there is there')
  t.equal(await asked(page, 10), 0)
})

t.test('a service that does not answer is told in the end, and asked again until it does', async (t) => {
  const console = await claimsConsole(t, shared)
  const { client, path } = console
  await client.submit()
  const page = await open(console, path)
  await page.route('**/claims', (route) => route.abort())
  const status = page.locator('#live-status')
  await pass(page, 4)
  t.equal(await status.textContent(), '', 'once is nothing to speak of')
  await pass(page, 20)
  t.match(await status.textContent(), 'does not answer')
  t.ok((await asked(page, 60)) < 4, 'less and less')
  await page.unroute('**/claims')
  await pass(page, 60)
  t.equal(await status.textContent(), '')
})

t.test('a service that keeps silent is told like one that does not answer', async (t) => {
  const console = await claimsConsole(t, shared)
  const { client, path } = console
  await client.submit()
  const page = await open(console, path)
  await page.route('**/claims', () => {})
  await pass(page, 60)
  t.match(await page.locator('#live-status').textContent(), 'does not answer')
  await page.unrouteAll()
  await pass(page, 60)
  t.equal(await page.locator('#live-status').textContent(), '')
})

t.test('two tabs share one stream of events, and the other one goes on when the first is closed', async (t) => {
  const console = await claimsConsole(t, shared)
  const { owner, installation, client, path } = console
  await client.submit()
  const context = await browser.newContext()
  const cookies = [...owner.cookies].map(([name, value]) => ({ name, value, url: installation.url }))
  await context.addCookies(cookies)
  const streams: string[] = []
  context.on('request', (request) => {
    if (request.url().endsWith('/events')) streams.push(request.url())
  })
  const [first, second] = [await context.newPage(), await context.newPage()]
  for (const page of [first, second]) await page.goto(installation.url + path)
  await first.waitForTimeout(1000)
  t.equal(streams.length, 1)
  const { claim_id } = (await client.submit()).body
  // Without the stream, pages that hear of events would look only after ten seconds.
  for (const page of [first, second]) await page.waitForSelector(`#${claim_id}`, { timeout: 5000 })
  await first.close()
  await second.waitForTimeout(1000)
  t.equal(streams.length, 2)
  const later = (await client.submit()).body.claim_id
  await second.waitForSelector(`#${later}`, { timeout: 5000 })
})
