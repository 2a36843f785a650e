// Test run: end-to-end, slow
/** The documentation and the log explorer in a real browser: accessible, as wide as the screen, searched and checked by their scripts. */
import { readFileSync } from 'node:fs'
import t, { type Test as TapTest } from 'tap'
import { Installation } from '../support/installation.ts'
import { launchBrowser, looksRight, openPage, type Page, SCREENS } from './browser.ts'

const SIZE = 11
const PAGES = [
  '/',
  '/docs',
  '/docs/quickstart',
  '/docs/errors',
  '/docs/api/claims',
  '/docs/writing-a-verifier',
  '/log',
  '/log/3',
]

async function isRight(t: TapTest, page: Page, path: string): Promise<void> {
  await page.goto(path)
  await looksRight(t, page, path)
}

/** What the page says of each step, when it has checked. */
async function steps(page: Page): Promise<{ readonly said: string; readonly holds: readonly boolean[] }> {
  const checked = page.locator('#checked')
  await checked.locator('[role=status]', { hasNotText: 'Checking' }).waitFor()
  const marks = await checked.locator('li strong').allInnerTexts()
  return { said: await checked.getByRole('status').innerText(), holds: marks.map((mark) => mark === 'Holds') }
}

/** Puts the document through `change` on its way to the page. */
async function tamper(page: Page, path: string, change: (document: never) => void): Promise<void> {
  await page.route(`**${path}*`, async (route) => {
    const response = await route.fetch()
    const document = await response.json()
    change(document as never)
    await route.fulfill({ response, json: document })
  })
}

t.test('public pages', async (t) => {
  const installation = await Installation.during(t)
  const client = await installation.client('site')
  const submitted = await Promise.all(Array.from({ length: SIZE }, () => client.submit()))
  const browser = await launchBrowser(t)
  const { url } = installation

  for (const screen of SCREENS) {
    await t.test(`every kind of page is right at ${screen.viewport.width} px, ${screen.colorScheme}`, async (t) => {
      const { page, expectStatus } = await openPage(t, browser, url, screen)
      for (const path of PAGES) await isRight(t, page, path)
      expectStatus(404)
      await isRight(t, page, '/docs/nothing')
      await isRight(t, page, '/log/proof?leaf=99')
      await page.goto('/docs/concepts')
      const link = page.getByRole('link', { name: 'Configuration' })
      t.equal(await link.isVisible(), screen.viewport.width > 1000, 'the list of pages')
      if (screen.viewport.width < 1000) await page.locator('.docs-menu summary').click()
      await link.click()
      t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Configuration')
    })
  }

  await t.test('the documentation is searched, by keyboard alone', async (t) => {
    const { page } = await openPage(t, browser, url)
    await page.goto('/docs')
    await page.keyboard.press('/')
    await page.keyboard.type('unsupported_act')
    const results = page.locator('.docs-found a')
    await results.first().waitFor()
    t.match(await results.first().innerText(), 'Why a check saw nothing')
    t.match(await page.locator('.docs-search [role=status]').textContent(), /^\d+ found$/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/errors#why-a-check-saw-nothing')
    await page.getByRole('searchbox').fill('xyzzy plugh')
    await page.getByText('Nothing has “xyzzy plugh”.').waitFor()
    t.equal(await results.count(), 0)
    await page.keyboard.press('Escape')
    t.equal(await page.getByRole('searchbox').inputValue(), '')
    await page.route('**/docs/search.json', (route) => route.fulfill({ status: 200, body: 'no index' }))
    await page.goto('/docs/concepts')
    await page.getByRole('searchbox').fill('log')
    await page.getByText('The search does not answer.').waitFor()
  })

  await t.test('examples are shown in the language that is chosen, and blocks are copied', async (t) => {
    const { page, context } = await openPage(t, browser, url.replace('127.0.0.1', 'localhost'))
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/docs/quickstart')
    t.equal(await page.locator('[data-language=ts]:visible').count(), 0)
    await page.getByLabel('TypeScript', { exact: true }).check()
    t.equal(await page.locator('[data-language=sh]:visible').count(), 0)
    await page.locator('[data-language=ts] button').first().click()
    t.match(await page.evaluate(() => navigator.clipboard.readText()), /^import \{ createClient \}/)
  })

  await t.test('without scripts everything is there but the search', async (t) => {
    const { page } = await openPage(t, browser, url, { javaScriptEnabled: false })
    await page.goto('/docs/quickstart')
    t.equal(await page.locator('.docs-search').isVisible(), false)
    t.equal(await page.locator('button.copy:visible').count(), 0)
    await page.getByLabel('TypeScript', { exact: true }).check()
    t.equal(await page.locator('[data-language=sh]:visible').count(), 0)
    await page.goto('/log')
    await page.getByLabel('Entry', { exact: true }).fill('4')
    await page.getByRole('button', { name: 'Prove the entry' }).click()
    t.match(await page.locator('main').innerText(), './claimcheck verify proof.json')
    t.equal(await page.locator('#checked').isVisible(), false)
  })

  await t.test('proofs are checked in the browser', async (t) => {
    const { page } = await openPage(t, browser, url)
    for (const path of [
      '/log/3',
      '/log/proof?leaf=3&size=5',
      '/log/proof?first=3&second=7',
      '/log/proof?first=4&second=4',
    ]) {
      await page.goto(path)
      t.strictSame(await steps(page), { said: 'Everything holds.', holds: [true, true, true, true] }, path)
    }
  })

  const other = 'A'.repeat(43)
  type Change = [what: string, path: string, document: string, change: (document: never) => void, held: boolean[]]
  const changes: Change[] = [
    [
      'a hash of the proof',
      '/log/3',
      '/v1/log/proof',
      (it: { inclusion: string[] }) => {
        it.inclusion[0] = other
      },
      [true, false, true, true],
    ],
    [
      'the leaf of the proof',
      '/log/3',
      '/v1/log/proof',
      (it: { leaf_hash: string }) => {
        it.leaf_hash = other
      },
      [false, false, true, true],
    ],
    [
      'the root of the proof',
      '/log/3',
      '/v1/log/proof',
      (it: { root_hash: string }) => {
        it.root_hash = other
      },
      [true, false, true, false],
    ],
    [
      'the log of the proof',
      '/log/3',
      '/v1/log/proof',
      (it: { log_id: string }) => {
        it.log_id = other
      },
      [false, true, true, true],
    ],
    [
      'the root of the head',
      '/log/3',
      '/v1/log/head',
      (it: { tree_head: { body: { root_hash: string } } }) => {
        it.tree_head.body.root_hash = other
      },
      [true, true, false, false],
    ],
    [
      'the published keys',
      '/log/3',
      '/.well-known/poaw-keys.json',
      (it: { keys: unknown[] }) => {
        it.keys = []
      },
      [true, true, false, true],
    ],
    [
      'the root of the first tree',
      '/log/proof?first=3&second=11',
      '/v1/log/consistency',
      (it: { first_root: string }) => {
        it.first_root = other
      },
      [true, false, true, true],
    ],
    [
      'the sizes',
      '/log/proof?first=3&second=11',
      '/v1/log/consistency',
      (it: { first: number }) => {
        it.first = 4
      },
      [false, false, true, true],
    ],
  ]
  await t.test('a document that was changed on its way does not hold, and the page says which', async (t) => {
    for (const [what, path, document, change, holds] of changes) {
      const { page, context } = await openPage(t, browser, url)
      await tamper(page, document, change)
      await page.goto(path)
      const found = await steps(page)
      t.strictSame(found.holds, holds, what)
      t.match(found.said, 'Not everything holds.', what)
      await context.close()
    }
  })

  await t.test('a receipt that fails its check in the browser takes back what the tab says', async (t) => {
    const { receipt_id } = await client.decided(submitted[0]!.body.claim_id)
    const { page } = await openPage(t, browser, url)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`/r/${receipt_id}`)
    await page.locator('#receipt[data-checked=true]').waitFor()
    t.match(await page.title(), /^Verified, at a destination/)
    t.ok(asked.filter((path) => path.startsWith('/r/')).length <= 3, 'as the documentation of the limits says')

    await tamper(page, `/r/${receipt_id}.json`, (bundle: { receipt: string }) => {
      bundle.receipt = bundle.receipt.replace('"attempts":1', '"attempts":2')
    })
    await page.goto(`/r/${receipt_id}`)
    await page.locator('#receipt[data-checked=false]').waitFor()
    t.equal(await page.title(), 'Not valid · Claimcheck')
    t.match(await page.locator('link[rel=icon]').getAttribute('href'), /^\/assets\//)
  })

  await t.test('the offline checker trusts no keys and no words because they came with a file', async (t) => {
    const { receipt_id } = await client.decided(submitted[0]!.body.claim_id)
    const text = await (await fetch(new URL(`/r/${receipt_id}.json`, url))).text()
    const bundle = JSON.parse(text) as Record<'receipt' | 'keys' | 'profiles', string>
    const { signature } = JSON.parse(bundle.receipt)
    const { page } = await openPage(t, browser, url)
    const give = async (document: string) => {
      await page.getByLabel('Or paste one document').fill(document)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
    }
    const result = page.locator('#result')
    const unpinned = result.getByText('Nothing here shows who holds the key that signed this')
    await page.goto('/check.html')
    await give(text.replaceAll('was there in time', 'was paid a million'))
    await unpinned.waitFor()
    t.match(await result.locator('h1').innerText(), 'There as claimed, in time')
    t.notMatch(await result.locator('article').innerText(), 'paid a million')
    await page.getByLabel('The key that must have signed it').fill(signature.key_id)
    await give(text)
    await unpinned.waitFor({ state: 'detached' })
    t.match(await result.locator('#proof-signature').innerText(), 'The key that you pinned signed exactly this.')

    await page.getByRole('button', { name: 'Start again' }).click()
    await give(JSON.stringify({ ...JSON.parse(bundle.keys), keys: [] }))
    await give(text)
    t.match(
      await result.locator('h1').innerText(),
      /key document has no such key/,
      'own keys count before those of a file',
    )

    const vector = (name: string) => readFileSync(`test/vectors/${name}`, 'utf8')
    await page.getByRole('button', { name: 'Start again' }).click()
    await page.getByLabel('Or the issuer’s key document').setInputFiles('test/vectors/keys.json')
    await give(vector('valid-change.json'))
    await result.getByText('This is a valid change entry').waitFor()
    await page.getByLabel('The key that must have signed it').fill(`ed25519:${'A'.repeat(43)}`)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await result.getByText('Do not rely on this change entry').waitFor()
    t.match(await result.locator('#proof-signature').innerText(), 'not the key that you pinned')

    await page
      .locator('#files')
      .setInputFiles({ name: 'a\u202eb.json', mimeType: 'application/json', buffer: Buffer.from([0x7b, 0xff, 0x7d]) })
    await page.locator('#have li', { hasText: 'this is not text' }).waitFor()
    t.match(await page.locator('#have li').last().innerText(), 'a<U+202E>b.json: this is not text in UTF-8 or UTF-16')
  })

  await t.test('a document that does not arrive, or is none, is told', async (t) => {
    const { page, expectStatus } = await openPage(t, browser, url)
    expectStatus(503)
    await page.route('**/v1/log/head', (route) => route.fulfill({ status: 503, body: '' }))
    await page.goto('/log/3')
    t.match((await steps(page)).said, 'This could not be checked: /v1/log/head answered 503.')
    await page.route('**/v1/log/head', (route) => route.fulfill({ status: 200, body: 'no JSON' }))
    await page.goto('/log/3')
    t.match((await steps(page)).said, 'This could not be checked: a document cannot be read.')
  })
})
