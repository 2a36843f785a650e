// Test run: end-to-end, slow
/** What a new user does, by clicking alone: from the link of the first start to the first verified claim. What is shown once is shown once. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Client, createClient } from '@claimcheck/client'
import t from 'tap'
import { Agent } from '../destinations/agent.ts'
import { GitServer } from '../destinations/git-server.ts'
import { runClaimcheck } from '../support/command.ts'
import { Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { launchBrowser, openPage } from './browser.ts'
import { picture } from './pictures.ts'

const SLUG = 'acme/api'
const READER = { username: 'reader', password: 'a-token-that-reads' }
const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOLERANCE_MS = 10 * 60_000
/** By then every claim is decided that is not to stay queued. */
const MOST_SKIPPED_MS = 16 * 60_000
const LONGEST_MS = 24 * 60 * 60_000
const clock = new SkippingClock()

/** One claim for each verdict, and one that waits; those that need an end of the tolerance were made ten minutes ago. @returns the commit that is to come late */
async function claimEverything(client: Client, agent: Agent, remote: string, base: string): Promise<string> {
  let count = 0
  // An answer of the first look may be older, and still from after the tolerance.
  const ago = clock.now() - 15_000 - TOLERANCE_MS
  const soon = { claimed_at: ago, deadline_at: ago + TOLERANCE_MS + 45_000 }
  const claim = async (
    sha: string,
    agentId: string,
    times: Readonly<Record<string, number>>,
    action = 'codehost.commit.push',
  ) => {
    await client.submit({
      client_claim_id: `run-${++count}`,
      agent_id: agentId,
      action,
      target: SLUG,
      params: { sha, branch: 'main' },
      ...(Object.fromEntries(Object.entries(times).map(([name, at]) => [name, new Date(at).toISOString()])) as {
        claimed_at: string
      }),
    })
  }
  // On top of the branch: one that is rewritten may have had anything, and blames nobody.
  const commit = () => agent.commit({ parents: [base] })
  const [late, aside, never] = await Promise.all([commit(), commit(), commit()])
  await agent.push(remote, aside, 'experiment')
  const now = { claimed_at: clock.now() }
  // A git server has no log: what is on another branch is blamed after a look just after the claim, and one at its deadline.
  await claim(aside, 'docs-writer', now)
  await claim(never, 'nightly-build', soon)
  await claim(late, 'release-bot', soon)
  await claim(never, 'release-bot', now, 'codehost.wiki.publish')
  await claim(never, 'docs-writer', { ...now, deadline_at: now.claimed_at + LONGEST_MS })
  return late
}

t.test('from the first start to the first verified claim', { timeout: 180_000 }, async (t) => {
  const gitServer = await GitServer.start(0, clock.now)
  t.teardown(() => gitServer.close())
  await gitServer.createRepository(SLUG, { credentials: READER })
  const agent = await Agent.create()
  t.teardown(() => agent.close())
  const service = await Installation.start({
    plugins: [{ use: CODEHOST }],
    env: { ALLOW_PRIVATE: new URL(gitServer.url).host },
    // A person is waiting: unreadable destinations are given up after seconds instead of minutes.
    file: { checks: { closing_ms: 5000, grace_ms: 2000, timeout_ms: 3000 }, sources: { git: [gitServer.url] } },
    now: clock.now,
  })
  t.teardown(() => service.remove())
  const setupToken = await service.claimcheck.accounts.setupToken()

  const browser = await launchBrowser(t)
  const origin = service.url
  const { page } = await openPage(t, browser, origin, { viewport: { width: 1280, height: 860 } })
  page.setDefaultTimeout(15_000)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).first().click()

  await page.goto(`${origin}/console/setup/${setupToken}`)
  await page.getByLabel('Your name').fill('Ann Example')
  await page.getByLabel('E-mail').fill('ann@example.com')
  await page.getByLabel('Password').fill('purple lantern orbit cactus')
  await page.getByLabel('Workspace').fill('acme')
  await press('Set up')
  await page.getByRole('heading', { name: 'Claims', level: 1 }).waitFor()
  await page.getByText(/curl/).first().waitFor()

  await follow('Connections')
  await follow(/git over HTTP/)
  await page.getByLabel(/Base URL/i).fill(gitServer.url)
  await page.getByLabel(/Username/).fill(READER.username)
  await page.getByLabel(/Password/).fill(READER.password)
  await press('Connect')
  await page.getByText('codehost.commit.push').first().waitFor()

  const sha = await agent.commit()
  const remote = new URL(`/${SLUG}.git`, gitServer.url)
  remote.username = READER.username
  remote.password = READER.password
  await agent.push(remote.href, sha, 'main')

  await follow('Claims')
  await follow(/Submit a claim/)
  await page.getByLabel('What is claimed').selectOption('codehost.commit.push')
  await press('Continue')
  await page.getByLabel('Repository').fill(SLUG)
  await page.getByLabel(/^commit/i).fill(sha)
  await page.getByLabel(/^branch/i).fill('main')
  await page.getByLabel('Agent').fill('release-bot')
  await press('Submit')
  await page
    .getByText(/was on main of .* in time/)
    .first()
    .waitFor()
  t.match(await page.locator('h1').innerText(), /^Commit [0-9a-f]+ was on main of acme\/api in time$/)
  await follow('Open')
  const receipt = page.url()
  t.match(receipt, /\/r\/rcpt_/)
  await page.locator('#receipt[data-checked=true]').waitFor()
  await picture(t, page, 'receipt')
  const verify = await runClaimcheck(service.folder, ['verify', receipt])
  t.equal(verify.code, 0, 'the receipt holds')
  await page.goBack()

  await follow('Claims')
  await page.locator('table').getByText('release-bot').waitFor()

  await t.test('a key is shown once, works, and is revoked in two steps', async (t) => {
    await follow('Developers')
    await page.getByLabel('Name').fill('ci')
    await press('Make a key')
    const key = /svc_sk_[\w-]{43}/.exec(await page.locator('main').innerText())?.[0]
    t.ok(key, 'the key is shown')
    await page.goto(page.url())
    t.notMatch(await page.content(), key!, 'once')
    const whoami = () => fetch(`${service.url}/v1/whoami`, { headers: { authorization: `Bearer ${key}` } })
    t.equal((await whoami()).status, 200)

    await t.test('what an agent submits with it comes into the table by itself, with each verdict', async (t) => {
      await follow('Claims')
      const client = createClient({ baseUrl: service.url, key: key! })
      const late = await claimEverything(client, agent, remote.href, sha)
      const stopSkipping = clock.skip(service.claimcheck, MOST_SKIPPED_MS)
      t.teardown(stopSkipping)
      await clock.sleep(18_000)
      await clock.during(() => agent.push(remote.href, late, 'main'))
      for (const verdict of ['late', 'mismatch', 'failed', 'unverifiable', 'queued']) {
        await page.locator('tbody .verdict').getByText(verdict).first().waitFor({ timeout: 60_000 })
      }
      await picture(t, page, 'claims')
      const words = await page.locator('tbody .verdict').allInnerTexts()
      t.strictSame([...new Set(words.map((word) => word.trim()))].sort(), [
        ...['failed', 'late', 'mismatch', 'queued', 'unverifiable', 'verified'],
      ])
      await page.getByRole('row', { name: /late/ }).getByRole('link').first().click()
      await page
        .getByText(/came onto \S+ of .* too late\./)
        .first()
        .waitFor()
      await follow('Open')
      await page.locator('#receipt[data-checked=true]').waitFor()
      await page.goBack()
      await follow('Developers')
    })

    await page.getByRole('link', { name: 'Revoke ci' }).click()
    t.equal((await whoami()).status, 200, 'asked first')
    await press('Revoke the key')
    await page.getByText('The key is revoked.').waitFor()
    t.equal((await whoami()).status, 401)
    t.match(await page.locator('table').innerText(), /ci\s.*svc_sk_….*revoked/s, 'listed for ever')
  })

  await t.test('everything can be reached and used by keyboard alone', async (t) => {
    await page.goto(`${origin}/console`)
    await page.keyboard.press('Tab')
    t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content')
    await page.keyboard.press('Enter')
    t.equal(await page.evaluate(() => document.activeElement?.id), 'main')
  })

  await t.test('what is left is sound, and so are its backup and its copy', async () => {
    // The page would ask a host that is gone.
    await page.close()
    await service.examine({ isWhole: true })
  })
})
