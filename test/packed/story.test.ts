/** The whole story in a browser, on the program as its package ships it: each form that people meet in their first hour. */
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@claimcheck/client'
import t from 'tap'
import { addAuthenticator } from '../browser/authenticator.ts'
import { launchBrowser, openPage, type Page } from '../browser/browser.ts'
import { Agent } from '../destinations/agent.ts'
import { GitServer } from '../destinations/git-server.ts'
import { codeOf, untilCodeLasts } from '../support/authenticator.ts'
import { runProgram } from '../support/command.ts'
import { startProgram } from '../support/program.ts'
import { installPacked } from './installed.ts'

const SLUG = 'acme/api'
const READER = { username: 'reader', password: 'a-token-that-reads' }
const ANN = { name: 'Ann Example', email: 'ann@example.com', password: 'Saddle-Nectar-Orbit-61' }
const BOB = { name: 'Bob Example', email: 'bob@example.com', password: 'Puddle-Kettle-Quartz-77' }
const BETTER = 'Meadow-Lantern-Cobalt-93'
const BEST = 'Walnut-Harbor-Violin-28'
const TOLERANCE_MS = 10 * 60_000

const { folder: packages, bin } = await installPacked()
const folder = join(packages, '../story')

t.test('from an empty folder to a receipt that a stranger checks', { timeout: 400_000 }, async (t) => {
  const git = await GitServer.start()
  t.teardown(() => git.close())
  await git.createRepository(SLUG, { credentials: READER })
  const agent = await Agent.create()
  t.teardown(() => agent.close())
  const sha = await agent.commit()
  const remote = Object.assign(new URL(`/${SLUG}.git`, git.url), READER)
  await agent.push(remote.href, sha, 'main')

  const config = {
    plugins: [
      { use: '@claimcheck/plugin-codehost' },
      // Its verifier sees what a claim says, so that each verdict takes seconds.
      { use: resolve('build/test/plugins/scripted.js'), trusted: true },
    ],
    checks: { closing_ms: 5000, grace_ms: 2000, timeout_ms: 5000 },
    sources: { git: [git.url] },
  }
  await writeFile(join(packages, 'claimcheck.config.json'), JSON.stringify(config))
  const { PATH, HOME } = process.env
  const env = {
    ...{ PATH: PATH!, HOME: HOME!, PORT: await freePort(), LOG_LEVEL: 'silent', DATA_DIR: join(folder, 'data') },
    DATABASE_URL: `sqlite:${join(folder, 'claimcheck.db')}`,
    ALLOW_PRIVATE: new URL(git.url).host,
  }
  const service = await startProgram(packages, env, bin)
  t.teardown(() => service.stop())
  const origin = service.url

  const browser = await launchBrowser(t)
  const { page, context, expectStatus } = await openPage(t, browser, origin)
  page.setDefaultTimeout(30_000)
  const press = (name: string, at: Page = page) => at.getByRole('button', { name, exact: true }).click()
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).first().click()
  const fill = async (fields: Readonly<Record<string, string>>, at: Page = page) => {
    for (const [label, value] of Object.entries(fields)) await at.getByLabel(label, { exact: true }).fill(value)
  }
  const signIn = async (at: Page, email: string, password: string) => {
    await at.goto('/console/sign-in')
    await fill({ 'E-mail': email, Password: password }, at)
    await press('Sign in', at)
  }

  await t.test('the first person sets the service up', async () => {
    await page.goto(service.setupUrl!)
    await page.getByLabel('Your name').fill(ANN.name)
    await page.getByLabel('E-mail').fill(ANN.email)
    await page.getByLabel('Password').fill(ANN.password)
    await page.getByLabel('Workspace').fill('acme')
    await press('Set up')
    await page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()
  })

  await t.test('a second person joins by an invitation, and gets a forgotten password back', async (t) => {
    await follow('Members')
    await press('Make a link')
    const link = /http\S+\/console\/join\/[\w-]+/.exec(await page.locator('main').innerText())![0]
    const bob = await openPage(t, browser, origin)
    await bob.page.goto(link)
    await bob.page.getByLabel('Your name').fill(BOB.name)
    await bob.page.getByLabel('E-mail').fill(BOB.email)
    await bob.page.getByLabel('Password').fill(BOB.password)
    await press('Join', bob.page)
    await bob.page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()

    const forgotten = await runProgram({ folder: packages, args: ['user', 'reset', BOB.email], env }, bin)
    t.equal(forgotten.code, 0, forgotten.stderr)
    const again = await openPage(t, browser, origin)
    await again.page.goto(/http\S+\/console\/reset\/[\w-]+/.exec(forgotten.stdout)![0])
    await again.page.getByLabel('Password').fill(BETTER)
    await again.page.locator('form button[type=submit]').last().click()
    await again.page.waitForURL((url) => !url.pathname.includes('/reset/'))
    const elsewhere = await openPage(t, browser, origin)
    elsewhere.expectStatus(401)
    elsewhere.expectStatus(422)
    await signIn(elsewhere.page, BOB.email, BOB.password)
    t.match(elsewhere.page.url(), /sign-in/, 'the old one is none')
    await signIn(elsewhere.page, BOB.email, BETTER)
    await elsewhere.page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()
  })

  await t.test('a password is changed, a second step is set up, and a passkey signs in', async (t) => {
    await page.goto('/console/account')
    await fill({ 'Current password': ANN.password })
    await page.getByLabel('New password').fill(BEST)
    await press('Change the password')
    await page.waitForURL('**/console/account?done=*')

    await page.goto('/console/account/second-step')
    const secret = /secret=([A-Z2-7]{32})/.exec(await page.content())![1]!
    await untilCodeLasts(15_000)
    await fill({ Code: codeOf(secret, Date.now() - 30_000) })
    await press('Switch it on')
    await page.getByText('Keep these codes now').waitFor()
    await page.goto('/console/account')
    await press('Sign out')
    await signIn(page, ANN.email, BEST)
    await page.getByText('Your password is right').waitFor()
    await fill({ Code: codeOf(secret, Date.now()) })
    await press('Sign in')
    await page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()

    const device = await addAuthenticator(context, page)
    await page.goto('/console/account')
    await page.getByLabel('Name of a new passkey').fill('laptop')
    await press('Add a passkey')
    await page.waitForURL('**/console/account?done=passkey-added')
    t.equal(await device.passkeys(), 1)
    await press('Sign out')
    await page.goto('/console/sign-in')
    await press('Sign in with a passkey')
    await page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()
  })

  await t.test('a destination is connected: not with the wrong password', async (t) => {
    await follow('Connections')
    await follow(/git over HTTP/)
    const connect = async (password: string) => {
      await page.getByLabel(/Base URL/i).fill(git.url)
      await page.getByLabel(/Username/).fill(READER.username)
      await page.getByLabel(/Password/).fill(password)
      await page.getByLabel(/Repository to try/).fill(SLUG)
      await press('Connect')
    }
    expectStatus(422)
    await connect('another-token')
    await page.getByText('Not connected: the destination refused the credentials').waitFor()
    await connect(READER.password)
    await page.waitForURL('**/connections?done=connected*')
    t.match(await page.locator('main').innerText(), /Works: read .*codehost\.commit\.push/s)
  })

  let key = ''
  await t.test('a key is made, and claims end in each verdict', async (t) => {
    await follow('Developers')
    await fill({ Name: 'ci' })
    await press('Make a key')
    key = /svc_sk_[\w-]{43}/.exec(await page.locator('main').innerText())![0]
    const client = createClient({ baseUrl: origin, key, agentId: 'release-bot' })
    const push = await client.submit({ action: 'codehost.commit.push', target: SLUG, params: { sha, branch: 'main' } })

    const claimedAt = Date.now() + 5000 - TOLERANCE_MS
    const soon = {
      claimed_at: new Date(claimedAt).toISOString(),
      deadline_at: new Date(claimedAt + TOLERANCE_MS + 10_000).toISOString(),
    }
    const scripted = (params: object) =>
      client.submit({ action: 'test.outcome.reach', target: 'somewhere', params: params as never, ...soon })
    const submitted = {
      verified: push,
      late: await scripted({ see: 'absent', later: { at: Date.now() + 8000, see: 'present' } }),
      mismatch: await scripted({ see: 'differs' }),
      failed: await scripted({ see: 'absent' }),
      unverifiable: await scripted({ see: 'forbidden' }),
    }
    for (const [verdict, claim] of Object.entries(submitted))
      t.equal((await client.wait(claim, { timeoutMs: 90_000 })).verdict, verdict)
    await follow('Claims')
    for (const verdict of Object.keys(submitted))
      await page.locator('tbody .verdict').getByText(verdict, { exact: true }).first().waitFor()
  })

  await t.test('the receipt is checked on its page, and offline by a file that the page gives', async (t) => {
    await page
      .getByRole('row', { name: /verified/ })
      .getByRole('link')
      .first()
      .click()
    await follow('Open')
    await page.locator('#receipt[data-checked=true]').waitFor()
    const receipt = new URL(page.url())
    t.match(receipt.pathname, /^\/r\/rcpt_/)

    const [checker, bundle] = await Promise.all(
      ['/check.html', `${receipt.pathname}.json`].map(async (path) => (await fetch(origin + path)).text()),
    )
    await writeFile(join(folder, 'check.html'), checker!)
    await writeFile(join(folder, 'bundle.json'), bundle!)
    const offline = await (await browser.newContext({ offline: true })).newPage()
    offline.on('pageerror', (error) => t.fail(error.message))
    await offline.goto(pathToFileURL(join(folder, 'check.html')).href)
    await offline.getByLabel('Files').setInputFiles(join(folder, 'bundle.json'))
    await offline.locator('#report').waitFor({ state: 'attached' })
    const report = async () => JSON.parse((await offline.locator('#report').textContent())!)
    t.match(await report(), { valid: false, vouched_by: 'nothing' }, 'the keys in the file vouch for nothing')
    const keys = join(folder, 'keys.json')
    await writeFile(keys, await (await fetch(`${origin}/.well-known/poaw-keys.json`)).text())
    await offline.getByLabel('Or the issuer’s key document').setInputFiles(keys)
    await offline.locator('.tone-verified').waitFor()
    t.match(await report(), { valid: true, verdict: 'verified', vouched_by: 'keys' })

    const verified = await runProgram(
      { folder: packages, args: ['verify', join(folder, 'bundle.json'), '--keys', keys], env: { PATH: PATH! } },
      bin,
    )
    t.equal(verified.code, 0, verified.stdout + verified.stderr)
    const forged = (await readFile(join(folder, 'bundle.json'), 'utf8')).replaceAll('release-bot', 'release-b0t')
    await writeFile(join(folder, 'forged.json'), forged)
    const refused = await runProgram(
      { folder: packages, args: ['verify', join(folder, 'forged.json'), '--keys', keys], env: { PATH: PATH! } },
      bin,
    )
    t.equal(refused.code, 1, refused.stdout + refused.stderr)
  })

  await t.test('doctor finds nothing', async (t) => {
    const doctor = await runProgram({ folder: packages, args: ['doctor', '--json'], env }, bin)
    t.match(JSON.parse(doctor.stdout), { ok: true, problems: [] })
  })
})

/** Commands print links with the port that the environment names. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}
