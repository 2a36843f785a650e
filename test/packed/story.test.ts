// Test run: end-to-end, slow
/** From an empty folder to a receipt that a stranger checks, in a browser, on the program as its package ships it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@claimcheck/client'
import t from 'tap'
import { launchBrowser, openPage } from '../browser/browser.ts'
import { Agent } from '../destinations/agent.ts'
import { GitServer } from '../destinations/git-server.ts'
import { runProgram } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { startProgram } from '../support/program.ts'
import { installPacked } from './installed.ts'

const SLUG = 'acme/api'
const READER = { username: 'reader', password: 'a-token-that-reads' }
const ANN = { name: 'Ann Example', email: 'ann@example.com', password: 'Saddle-Nectar-Orbit-61' }

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

  const config = { plugins: [{ use: '@claimcheck/plugin-codehost' }], sources: { git: [git.url] } }
  await writeFile(join(packages, 'claimcheck.config.json'), JSON.stringify(config))
  const { PATH, HOME, XDG_STATE_HOME } = process.env
  const env = {
    ...{
      PATH: PATH!,
      HOME: HOME!,
      ...(XDG_STATE_HOME === undefined ? {} : { XDG_STATE_HOME }),
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
      DATA_DIR: join(folder, 'data'),
    },
    DATABASE_URL: `sqlite:${join(folder, 'claimcheck.db')}`,
    ALLOW_PRIVATE: new URL(git.url).host,
  }
  const service = await startProgram(packages, env, bin)
  t.teardown(() => service.stop())
  const origin = service.url

  const browser = await launchBrowser(t)
  const { page } = await openPage(t, browser, origin)
  page.setDefaultTimeout(30_000)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).first().click()

  await t.test('the first person sets the service up', async () => {
    await page.goto(service.setupUrl!)
    await page.getByLabel('Your name').fill(ANN.name)
    await page.getByLabel('E-mail').fill(ANN.email)
    await page.getByLabel('Password').fill(ANN.password)
    await page.getByLabel('Workspace').fill('acme')
    await press('Set up')
    await page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()
  })

  await t.test('the pages of people have all that they load', async () => {
    for (const path of ['/console/account', '/console/account/second-step', '/docs', '/log']) await page.goto(path)
    await page.goto('/console')
  })

  await t.test('a destination is connected', async (t) => {
    await follow('Connections')
    await follow(/git over HTTP/)
    await page.getByLabel(/Base URL/i).fill(git.url)
    await page.getByLabel(/Username/).fill(READER.username)
    await page.getByLabel(/Password/).fill(READER.password)
    await page.getByLabel(/Repository to try/).fill(SLUG)
    await press('Connect')
    await page.waitForURL('**/connections?done=connected*')
    t.match(await page.locator('main').innerText(), /Works: read .*codehost\.commit\.push/s)
  })

  await t.test('a key is made, and a claim is verified', async (t) => {
    await follow('Developers')
    await page.getByLabel('Name', { exact: true }).fill('ci')
    await press('Make a key')
    const key = /svc_sk_[\w-]{43}/.exec(await page.locator('main').innerText())![0]
    const client = createClient({ baseUrl: origin, key, agentId: 'release-bot' })
    const push = await client.submit({ action: 'codehost.commit.push', target: SLUG, params: { sha, branch: 'main' } })
    t.equal((await client.wait(push, { timeoutMs: 90_000 })).verdict, 'verified')
    await follow('Claims')
    await page.locator('tbody .verdict').getByText('verified', { exact: true }).first().waitFor()
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
