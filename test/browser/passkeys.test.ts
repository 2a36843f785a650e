// Test run: end-to-end, slow
/** Passkeys in a real browser, with a device that it plays. */
import t, { type Test as TapTest } from 'tap'
import { Installation } from '../support/installation.ts'
import { Visitor } from '../support/visitor.ts'
import { addAuthenticator } from './authenticator.ts'
import { type Browser, launchBrowser, openPage, type Page, signIn } from './browser.ts'

async function opened(t: TapTest, browser: Browser, options: { javaScriptEnabled?: boolean } = {}) {
  const { host } = await Installation.during(t, { file: { rate_limits: { sign_in: 100 } } })
  await Visitor.first(host)
  return { host, ...(await openPage(t, browser, host.url, options)) }
}

async function signInByPassword(page: Page): Promise<void> {
  await page.goto('/console/sign-in?next=/console/account')
  await signIn(page)
  await page.waitForURL('**/console/account')
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name of a new passkey').fill(name)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
}

async function signInByPasskey(page: Page): Promise<void> {
  await page.goto('/console/sign-in?next=/console/account')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/sign-in?done=signed-out')
}

t.test('passkeys', async (t) => {
  const browser = await launchBrowser(t)

  await t.test('a passkey is added, signs in without an e-mail address, and is removed for good', async (t) => {
    const { context, page, expectStatus } = await opened(t, browser)
    const device = await addAuthenticator(context, page)
    await signInByPassword(page)
    await addPasskey(page, 'work laptop')
    await page.waitForURL('**/console/account?done=passkey-added')
    t.equal(await device.passkeys(), 1)
    t.match(await page.getByRole('region', { name: 'Passkeys' }).innerText(), /work laptop\s+now\s+never/)

    await signOut(page)
    await signInByPasskey(page)
    await page.waitForURL('**/console/account')
    t.match(await page.getByRole('region', { name: 'Passkeys' }).innerText(), /work laptop\s+.*\s+now/)

    await page.getByRole('button', { name: 'Remove the passkey work laptop' }).click()
    await page.waitForURL('**/console/account?done=passkey-removed')
    await signOut(page)
    expectStatus(422)
    await signInByPasskey(page)
    await page.getByText(/This passkey belongs to no account, or was removed/i).waitFor()
    await page.goto('/console')
    t.match(page.url(), /sign-in/)
  })

  await t.test('a device has one passkey for an account', async (t) => {
    const { context, page } = await opened(t, browser)
    await addAuthenticator(context, page)
    await signInByPassword(page)
    await addPasskey(page, 'first')
    await page.waitForURL('**/console/account?done=passkey-added')
    await addPasskey(page, 'second')
    await page.getByText('This device already has a passkey for this account.').waitFor()
  })

  await t.test('a device that does not recognise its owner lets nobody in', async (t) => {
    const { context, page } = await opened(t, browser)
    const device = await addAuthenticator(context, page)
    await signInByPassword(page)
    await addPasskey(page, 'phone')
    await page.waitForURL('**/console/account?done=passkey-added')
    await signOut(page)
    await device.recognise(false)
    await signInByPasskey(page)
    await page.getByText('The browser gave no passkey').waitFor()
    t.match(page.url(), /sign-in/)
  })

  await t.test('a counter that went back is a copy, and refused', async (t) => {
    const { context, page, expectStatus } = await opened(t, browser)
    const device = await addAuthenticator(context, page)
    await signInByPassword(page)
    await addPasskey(page, 'phone')
    await page.waitForURL('**/console/account?done=passkey-added')
    await device.setSignCount(50)
    await signOut(page)
    await signInByPasskey(page)
    await page.waitForURL('**/console/account')
    await signOut(page)
    await device.setSignCount(10)
    expectStatus(422)
    await signInByPasskey(page)
    await page.getByText(/This passkey was not accepted/).waitFor()
    t.match(page.url(), /sign-in/)
  })

  await t.test('without scripts there is a password, and nothing that does not work', async (t) => {
    const { page } = await opened(t, browser, { javaScriptEnabled: false })
    await page.goto('/console/sign-in')
    t.notOk(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible())
    await signInByPassword(page)
    t.notOk(await page.getByRole('button', { name: 'Add a passkey' }).isVisible())
    t.ok(await page.getByText('with scripts turned on').isVisible())
  })

  await t.test('who comes to an IP address of this machine is led to where passkeys work', async (t) => {
    const { host } = await opened(t, browser)
    const elsewhere = `http://127.0.0.1:${new URL(host.url).port}`
    const { page } = await openPage(t, browser, host.url, { alsoAt: [elsewhere] })
    await page.goto(`${elsewhere}/console/sign-in?next=/console/account`)
    await signIn(page)
    await page.waitForURL(`${host.url}/console/account`)
    t.ok(await page.getByRole('button', { name: 'Add a passkey' }).isVisible())
  })
})
