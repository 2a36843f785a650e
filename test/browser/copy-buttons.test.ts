// Test run: end-to-end, slow
/** Copy buttons, in a browser. */
import t from 'tap'
import { claimsConsole } from '../support/claims-console.ts'
import { launchBrowser } from './browser.ts'

t.test('copy buttons are there only where the browser lets a page copy', async (t) => {
  const { installation, owner, path } = await claimsConsole(t)
  // By this name it is another machine to the browser, and not over https.
  const elsewhere = 'claims.example'
  const browser = await launchBrowser(t, [`--host-resolver-rules=MAP ${elsewhere} 127.0.0.1`])
  for (const [host, isShown] of [
    ['localhost', true],
    [elsewhere, false],
  ] as const) {
    const url = new URL(installation.url)
    url.hostname = host
    const context = await browser.newContext()
    await context.addCookies([...owner.cookies].map(([name, value]) => ({ name, value, url: url.origin })))
    const page = await context.newPage()
    await page.goto(url.origin + path)
    t.equal(await page.evaluate(() => isSecureContext), isShown)
    t.equal(await page.locator('button[data-copy]').first().isVisible(), isShown, host)
  }
})
