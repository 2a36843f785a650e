// Test run: end-to-end, slow
/** A team in a real browser: a destination that refuses the wrong token, and a member who sees and may not change. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t, { type Test as TapTest } from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import { Installation } from '../support/installation.ts'
import { PASSWORD, Visitor } from '../support/visitor.ts'
import { launchBrowser, openPage, signIn } from './browser.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const RIGHT = 'ghp_the-right-token'
const WRITING = 'ghp_a-token-that-writes'
const WRONG = 'ghp_some-wrong-token'

async function installed(t: TapTest) {
  const github = await startGitHub()
  t.teardown(() => github.close())
  const repositories = [await github.createRepository('acme/private', { isPrivate: true })]
  github.addToken({ token: RIGHT, scopes: 'read:org' })
  github.addToken({ token: WRITING, scopes: 'repo', repositories })
  const plugins = [{ use: CODEHOST }]
  const { host } = await Installation.during(t, { plugins, env: { ALLOW_PRIVATE: '127.0.0.1' } })
  const workspaceId = await (await Visitor.first(host)).workspaceId()
  return { github, host, workspace: `${host.url}/console/w/${workspaceId}` }
}

t.test('a team', async (t) => {
  const { github, host, workspace } = await installed(t)
  const browser = await launchBrowser(t)
  const { page, expectStatus } = await openPage(t, browser, host.url)
  await page.goto(`${workspace}/connections`)
  await signIn(page)

  const connect = async (token: string) => {
    await page.getByLabel(/Base URL/).fill(github.url)
    await page.getByLabel(/^Token/).fill(token)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
  }

  await t.test('the wrong token is refused with the reason, and the right one connects', async (t) => {
    await page
      .getByRole('link', { name: /GitHub/ })
      .first()
      .click()
    t.match(await page.locator('main').innerText(), /read access only/i, 'it is said that reading is enough')
    expectStatus(422)
    await connect(WRONG)
    await page.getByRole('alert').waitFor()
    t.match(await page.getByRole('alert').innerText(), /refused the credentials/i)
    t.equal(await page.getByLabel(/Base URL/).inputValue(), github.url, 'what was typed is there still')
    t.equal(await page.getByLabel(/^Token/).inputValue(), '', 'but for the token')
    t.notMatch(await page.content(), WRONG)
    await connect(RIGHT)
    await page.waitForURL('**/connections?done=connected-reached')
    t.match(await page.locator('main').innerText(), /Reached, but not tried.*codehost\.commit\.push/s)
    t.notMatch(await page.content(), RIGHT)
  })

  await t.test('a token that can write connects with a warning', async (t) => {
    await page.goto(`${workspace}/connections/new/github`)
    await page.getByLabel(/Repository to try/).fill('acme/private')
    await connect(WRITING)
    await page.waitForURL('**/connections?done=connected-warned')
    t.match(await page.locator('main').innerText(), /Works: read acme\/private.*can also write/s)
  })

  await t.test('disconnecting asks first', async (t) => {
    await page
      .getByRole('link', { name: /^Disconnect/ })
      .last()
      .click()
    await page.getByRole('button', { name: /^Disconnect/ }).click()
    await page.waitForURL('**/connections?done=disconnected')
    t.notMatch(await page.locator('main').innerText(), /can also write/)
  })

  await t.test('a member joins by the link, sees everything, and is offered and allowed no change', async (t) => {
    await page.goto(`${workspace}/members`)
    await page.getByRole('button', { name: 'Make a link' }).click()
    const link = /http:\S+\/console\/join\/[\w-]{43}/.exec(await page.locator('main').innerText())![0]

    const { page: other, expectStatus } = await openPage(t, browser, host.url)
    await other.goto(link)
    await other.getByLabel('Your name').fill('Mia Member')
    await other.getByLabel('E-mail').fill('mia@example.com')
    await other.getByLabel('Password').fill(PASSWORD)
    await other.getByRole('button', { name: 'Join', exact: true }).click()
    await other.waitForURL('**/claims')

    for (const [section, seen] of [
      ['connections', 'GitHub'],
      ['developers', 'API keys'],
      ['members', 'Mia Member'],
      ['claims', 'Claims'],
    ] as const) {
      await other.goto(`${workspace}/${section}`)
      const main = other.locator('main')
      t.match(await main.innerText(), seen, section)
      const buttons = await main.getByRole('button').allInnerTexts()
      t.strictSame(
        buttons.filter((name) => !/^(Copy|Filter|Show|Leave)/.test(name)),
        [],
        `${section} offers nothing that changes anything`,
      )
    }
    expectStatus(403)
    for (const path of ['connections/new/github', 'claims/new']) {
      await other.goto(`${workspace}/${path}`)
      t.match(await other.locator('main').innerText(), /only owners/i, path)
    }
  })
})
