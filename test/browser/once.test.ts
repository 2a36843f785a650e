// Test run: end-to-end, slow
/** A form that is sent twice in haste, in a browser. */
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { claimsConsole } from '../support/claims-console.ts'
import { launchBrowser } from './browser.ts'

t.test('whoever clicks twice makes one key, and can send the form again after coming back to it', async (t) => {
  const { installation, owner, workspaceId } = await claimsConsole(t)
  const browser = await launchBrowser(t)
  const context = await browser.newContext()
  await context.addCookies([...owner.cookies].map(([name, value]) => ({ name, value, url: installation.url })))
  const page = await context.newPage()
  // An answer that is long on its way.
  await page.route('**/developers/keys', async (route) => {
    const response = await route.fetch()
    await wait(1000)
    await route.fulfill({ response }).catch(() => {})
  })
  const made = async () =>
    (await installation.claimcheck.keys.list(workspaceId)).filter(({ name }) => name === 'pipeline').length
  for (const expected of [1, 2]) {
    await page.goto(`${installation.url}/console/w/${workspaceId}/developers`)
    await page.getByLabel('Name').fill('pipeline')
    await page.getByRole('button', { name: 'Make a key' }).evaluate((button: HTMLElement) => {
      button.click()
      setTimeout(() => button.click(), 300)
    })
    await page.getByRole('heading', { name: 'Your new key' }).waitFor()
    t.equal(await made(), expected)
  }
})
