/** A real browser, and pages in it that fail their test on whatever a user of the console should never meet. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { emailOf, PASSWORD } from '../support/visitor.ts'
import { packagedChromium } from './packaged-chromium.ts'

export type { Browser, BrowserContext, Page }

/** Each layout once, and each set of colours. */
export const SCREENS = [
  { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  { viewport: { width: 1600, height: 1000 }, colorScheme: 'dark' },
] as const
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const LONGEST_CLOSE_MS = 10_000
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--headless=new']

/** CHROMIUM_PATH, or the one that comes with the packages. @param t the test with which it is closed @param more arguments of its command line */
export async function launchBrowser(t: Pick<Test, 'teardown'>, more: readonly string[] = []): Promise<Browser> {
  const { CHROMIUM_PATH } = process.env
  const how = CHROMIUM_PATH ? { executablePath: CHROMIUM_PATH } : await packagedChromium()
  const browser = await chromium.launch({ ...how, headless: true, args: [...ARGUMENTS, ...more] })
  t.teardown(() => close(browser))
  return browser
}

/** A browser that is busy may never answer that it closes: then it is killed, or its file would never end. */
async function close(browser: Browser): Promise<void> {
  const isClosed = browser.close().then(() => true)
  const isLate = setTimeout(LONGEST_CLOSE_MS, false, { ref: false })
  if (await Promise.race([isClosed, isLate])) return
  // The browsers that this process started.
  spawnSync('pkill', ['-KILL', '-P', String(process.pid), 'chrom'])
  await isClosed.catch(() => {})
}

export interface Watched {
  readonly context: BrowserContext
  readonly page: Page
  /** Of a step that is to be refused: browsers write each answer of 400 and above to the console. */
  expectStatus(status: number): void
}

export interface PageOptions extends BrowserContextOptions {
  /** Other origins that may be asked, too: of what a person is led to. */
  readonly alsoAt?: readonly string[]
}

/**
 * A browser context of its own, as somebody has on a machine of their own.
 * An error in the console, one that no script caught, and a request to another origin each fail the test.
 */
export async function openPage(
  t: Test,
  browser: Browser,
  origin: string,
  { alsoAt = [], ...options }: PageOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ baseURL: origin, ...options })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const expected = new Set<number>()
  page.on('console', (message) => {
    if (message.type() !== 'error' || isExpected(message.text(), expected)) return
    t.fail(`the browser's console: ${message.text()}`, { at: message.location() })
  })
  page.on('pageerror', (error) => t.fail(`a script failed: ${error.message}`))
  context.on('request', (request) => {
    const { origin: asked, protocol } = new URL(request.url())
    if (asked !== origin && !alsoAt.includes(asked) && protocol !== 'data:')
      t.fail(`a request to another origin: ${request.url()}`)
  })
  return { context, page, expectStatus: (status) => expected.add(status) }
}

/** Nothing that axe finds, and as wide as the screen. */
export async function looksRight(t: Test, page: Page, what: string): Promise<void> {
  await page.evaluate(AXE)
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } }
    const { violations } = await axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
  t.strictSame(violations, [], `${what}: axe`)
  const tooWideBy = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  t.ok(tooWideBy <= 0, `${what} is too wide by ${tooWideBy} px`)
}

interface AxeViolation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Sends the form that asks who somebody is, on the page that is open: the first person, as `Visitor` makes them. */
export async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(emailOf('owner'))
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

function isExpected(text: string, statuses: ReadonlySet<number>): boolean {
  const [, status] = /^Failed to load resource: .* status of (\d{3})/.exec(text) ?? []
  return status !== undefined && statuses.has(Number(status))
}
