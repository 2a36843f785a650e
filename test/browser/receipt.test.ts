// Test run: end-to-end, slow
/**
 * The page of a receipt and the offline checker in a real browser: they check by themselves, and say what the library and the command line say.
 * Threat O7 of `security.md`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type SignedTreeHead, signTreeHead } from '@claimcheck/core/log'
import { type BundleReport, checkBundle, type Receipt } from '@claimcheck/core/receipts'
import { bundleText, readBundle } from '@claimcheck/core/words/document'
import t from 'tap'
import { readManifest } from '../../core/test/vector-suite.ts'
import { runClaimcheck } from '../support/command.ts'
import { ENCODINGS } from '../support/encodings.ts'
import { IS_THOROUGH } from '../support/extent.ts'
import { forgedBundle } from '../support/forged-bundle.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { launchBrowser, looksRight, openPage, type Page, SCREENS } from './browser.ts'

const CHECKER = pathToFileURL(resolve('server/dist/check.html')).href
const VECTORS = resolve('test/vectors')
/** Of the body or the signature of a receipt. */
const MUTATIONS = IS_THOROUGH ? 10_000 : 250

async function states(page: Page): Promise<Record<string, string>> {
  const steps = await page
    .locator('.steps li')
    .evaluateAll((items) => items.map(({ id, className }) => [id, className]))
  return Object.fromEntries(steps.map(([id, state]) => [id!.replace('proof-', ''), state!]))
}

t.test('receipts in a browser', async (t) => {
  const listed = { sources: { test: [{ url: 'https://example.com', plugins: ['scripted'] }] } }
  const installation = await Installation.during(t, { plugins: [SCRIPTED], file: listed })
  const client = await installation.client('acme')
  const { body } = await client.submit()
  const { receipt_id: id } = await client.decided(body.claim_id)
  await client.submit()
  const browser = await launchBrowser(t)
  const { url } = installation

  for (const screen of SCREENS) {
    await t.test(`the page checks itself, at ${screen.viewport.width} px, ${screen.colorScheme}`, async (t) => {
      const { page } = await openPage(t, browser, url, screen)
      await page.goto(`/r/${id}`)
      await page.locator('#receipt[data-checked=true]').waitFor()
      t.match(await page.getByRole('status').first().innerText(), /^Checked in this browser just now/)
      t.strictSame(await states(page), {
        signature: 'holds',
        inclusion: 'holds',
        tree_head: 'holds',
        evidence: 'holds',
        anchor: 'none',
      })
      t.equal(await page.locator('article.receipt.tone-verified').count(), 1, 'green: its place is listed')
      await looksRight(t, page, 'the page')
    })
  }

  await t.test('while it is open, it compares the log with the state that it has', async (t) => {
    const { page } = await openPage(t, browser, url, { viewport: { width: 1280, height: 860 } })
    await page.clock.install()
    await page.goto(`/r/${id}`)
    await page.locator('#receipt[data-checked=true]').waitFor()
    await client.submit()
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const compare = async (path: string) => {
      const compared = page.waitForResponse((response) => response.url().includes(path))
      await page.clock.fastForward(31_000)
      await compared
    }
    await compare('/v1/log/consistency')
    t.strictSame(sent, ['GET /v1/log/head', 'GET /v1/log/consistency'], 'it sends nothing')
    t.equal(await page.locator('#log-lost').count(), 0, 'the log grew')
    const { signingKeys, storage } = installation.claimcheck
    const { logId } = (await storage.read.log.state())!
    const other = { logId, treeSize: 1, rootHash: new Uint8Array(32), issuedAt: Date.now() + 1000 }
    const head = { tree_head: await signTreeHead(await signingKeys.latest(), other), anchor: null }
    await page.route('**/v1/log/head', (route) => route.fulfill({ json: head }))
    await compare('/v1/log/head')
    const line = page.locator('#log-lost')
    await line.waitFor()
    t.match(await line.innerText(), /has lost a state that it signed/)
    await looksRight(t, page, 'the page with the red line')
  })

  await t.test('it prints on one sheet', async (t) => {
    const { page } = await openPage(t, browser, url, { viewport: { width: 1280, height: 860 } })
    await page.goto(`/r/${id}`)
    await page.locator('#receipt[data-checked=true]').waitFor()
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
    t.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 1)
  })

  await t.test('without scripts nothing says that it is checked', async (t) => {
    const { page } = await openPage(t, browser, url, { javaScriptEnabled: false })
    await page.goto(`/r/${id}`)
    t.match(await page.locator('.steps').innerText(), /^(?:[^✓]*not checked[^✓]*){5}$/)
    t.match(await page.getByRole('status').first().innerText(), /Nothing is checked yet/)
  })

  const tampered: readonly (readonly [string, (receipt: Tamperable) => void, RegExp])[] = [
    ['a changed verdict', ({ body }) => Object.assign(body.verdict, { value: 'failed' }), /Not valid/],
    ['a changed leaf', ({ proof }) => Object.assign(proof, { leaf_index: 1 }), /Not valid/],
    ['a changed log', ({ proof }) => Object.assign(proof, { log_id: 'A'.repeat(43) }), /Do not rely on this receipt/],
  ]
  for (const [what, change, told] of tampered) {
    await t.test(`${what} is told`, async (t) => {
      const { page } = await openPage(t, browser, url)
      await page.route('**/r/*.json', async (route) => {
        const bundle = JSON.parse(await (await route.fetch()).text())
        const receipt = JSON.parse(bundle.receipt)
        change(receipt)
        await route.fulfill({ json: { ...bundle, receipt: JSON.stringify(receipt) } })
      })
      await page.goto(`/r/${id}`)
      await page.locator('#receipt[data-checked]').waitFor()
      t.match(await page.locator('article').innerText(), told)
      t.equal(await page.locator('article.receipt.tone-verified').count(), 0, 'not green')
    })
  }

  await t.test('documents that do not arrive leave the page unchecked, and say so', async (t) => {
    const { page, expectStatus } = await openPage(t, browser, url)
    expectStatus(503)
    await page.route('**/r/*.json', (route) => route.fulfill({ status: 503, body: '' }))
    await page.goto(`/r/${id}`)
    await page.locator('#receipt[data-checked=error]').waitFor()
    t.match(await page.getByRole('status').first().innerText(), /^The check could not run: .*503/)
    t.match(await states(page), { signature: 'not_checked' })
  })

  await t.test('the offline checker says of the file what the command line and the library say', async (t) => {
    const folder = t.testdir()
    const file = join(folder, 'bundle.json')
    writeFileSync(file, await (await fetch(`${url}/r/${id}.json`)).text())
    const context = await browser.newContext({ offline: true })
    t.teardown(() => context.close())
    const page = await context.newPage()
    page.on('pageerror', (error) => t.fail(error.message))
    page.on('request', (request) => t.match(request.url(), /^(?:file|data):/, 'no request'))
    await page.goto(CHECKER)
    const bundle = readBundle(readFileSync(file, 'utf8'))!
    const { signature } = JSON.parse(bundle.receipt) as Receipt
    await page.getByLabel('The key that must have signed it').fill(signature.key_id)
    await page.getByLabel('Files').setInputFiles(file)
    await page.locator('#report').waitFor({ state: 'attached' })
    const shown = JSON.parse((await page.locator('#report').textContent())!) as BundleReport
    const { stdout } = await runClaimcheck(folder, ['verify', 'bundle.json', '--pin', signature.key_id, '--json'])
    t.strictSame(shown, JSON.parse(stdout))
    t.strictSame(shown, await checkBundle(bundle, { pinnedKey: signature.key_id }))
    t.match(await states(page), { signature: 'holds', tree_head: 'holds', evidence: 'holds', anchor: 'none' })
    t.equal(await page.locator('.tone-verified').count(), 1)
    await looksRight(t, page, 'the page')

    await page.getByLabel('The key that must have signed it').fill(`ed25519:${'A'.repeat(43)}`)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText('not the key that you pinned').waitFor()
    await page.getByRole('button', { name: 'Start again' }).click()
    await page.getByLabel('Or paste one document').fill('{"not":"json"')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText('Could not check: this is not JSON: the text is cut off').waitFor()
    for (const [name, encode] of Object.entries(ENCODINGS)) {
      await page.getByRole('button', { name: 'Start again' }).click()
      await page
        .getByLabel('Files')
        .setInputFiles({ name, mimeType: 'application/json', buffer: encode(bundleText(bundle)) })
      await page.locator('.tone-unvouched').waitFor()
    }
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'x', mimeType: 'text/plain', buffer: Buffer.from([0x7b, 0xff]) })
    await page.getByText('x: this is not text in UTF-8 or UTF-16').waitFor()
    await page.getByRole('button', { name: 'Start again' }).click()
    await page.getByLabel('Or paste one document').fill(`\ufeff${bundleText(bundle)}`)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.locator('.tone-unvouched').waitFor()
  })

  await t.test('the offline checker shows grey what a key signed that nothing vouches for', async (t) => {
    const real = readBundle(await (await fetch(`${url}/r/${id}.json`)).text())!
    const folder = t.testdir({ 'forged.json': bundleText(await forgedBundle(real)), 'keys.json': real.keys! })
    writeFileSync(join(folder, 'bundle.json'), bundleText(real))
    const context = await browser.newContext({ offline: true })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(CHECKER)
    for (const file of ['bundle.json', 'forged.json']) {
      await page.getByLabel('Files').setInputFiles(join(folder, file))
      await page.locator('.tone-unvouched').waitFor()
      t.match(await states(page), { signature: 'not_checked' }, file)
      t.match(await page.locator('article').innerText(), /Signed by a key that nothing vouches for\s+It says: /)
      t.equal(await page.locator('.tone-verified').count(), 0)
    }
    await looksRight(t, page, 'the page')
    // Also with the keys among the files: they came with the receipt.
    await page.getByLabel('Files').setInputFiles([join(folder, 'bundle.json'), join(folder, 'keys.json')])
    await page.locator('.tone-unvouched').waitFor()
    await page.getByLabel('Or the issuer’s key document').setInputFiles(join(folder, 'keys.json'))
    await page.locator('.tone-verified').waitFor()
    await page.getByLabel('Files').setInputFiles(join(folder, 'forged.json'))
    await page.getByText('Not valid').waitFor()
  })

  await t.test('the offline checker takes the file in which a log contradicts itself', async (t) => {
    const log: SignedTreeHead = (await installation.request('/v1/log/head')).body.tree_head
    const keys = (await installation.request('/.well-known/poaw-keys.json')).body
    const { log_id: logId, tree_size: treeSize } = log.body
    const signer = await installation.claimcheck.signingKeys.latest()
    const other = await signTreeHead(signer, { logId, treeSize, rootHash: new Uint8Array(32), issuedAt: Date.now() })
    const fileOf = (head: SignedTreeHead) =>
      JSON.stringify({ tree_head_of_client: head, tree_head_of_log: log, keys }, null, 2)
    const context = await browser.newContext({ offline: true })
    t.teardown(() => context.close())
    const page = await context.newPage()
    page.on('pageerror', (error) => t.fail(error.message))
    await page.goto(CHECKER)
    const result = page.locator('#result')
    const give = async (text: string) => {
      await page.getByLabel('Or paste one document').fill(text)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
    }
    await give(fileOf(other))
    await result.getByText('two different states of the same size. Nothing vouches for the key').waitFor()
    t.equal(await page.locator('#have li').last().innerText(), 'pasted text: how a log contradicts itself')
    await page.getByLabel('The key that must have signed it').fill(signer.keyId)
    await result.getByText(/two different states of the same size\.$/).waitFor()
    await page.getByLabel('The key that must have signed it').fill(`ed25519:${'A'.repeat(43)}`)
    await result.getByText('The key above signed both states of the log: DOES NOT HOLD').waitFor()
    await page.getByLabel('The key that must have signed it').fill('')
    const trust = (document: object) =>
      page.getByLabel('Or the issuer’s key document').setInputFiles({
        name: 'keys.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(document)),
      })
    await trust(keys)
    await result.getByText(/two different states of the same size\.$/).waitFor()
    await give(fileOf(log))
    await result.getByText('NOT valid, as a contradiction').waitFor()
    await give(fileOf(other))
    await trust({ ...keys, keys: [] })
    await result.getByText('NOT valid, as a contradiction').waitFor()
  })

  await t.test(`all vectors and ${MUTATIONS} mutations have the same report in Node and in the browser`, async (t) => {
    const context = await browser.newContext({ offline: true })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(CHECKER)
    const { vectors, evidence_vectors: withEvidence = [], keyset, profiles } = readManifest(VECTORS)
    const read = (file: string) => readFileSync(join(VECTORS, file), 'utf8')
    const keys = read(keyset)
    const bundles = [
      ...vectors.map(({ file }) => ({ receipt: read(file), keys })),
      ...withEvidence.map(({ file, evidence }) => ({
        receipt: read(file),
        evidence: read(evidence),
        keys,
        ...(profiles ? { profiles: read(profiles) } : {}),
      })),
    ]
    const bundle = readBundle(await (await fetch(`${url}/r/${id}.json`)).text())!
    const mutants = mutationsOf(bundle.receipt, MUTATIONS).map((receipt) => ({ ...bundle, receipt }))
    const all = [...bundles, ...mutants]
    const inNode = []
    for (const one of all) inNode.push(await checkBundle(one, { fromIssuer: true }))
    const inBrowser = await page.evaluate(async (all) => {
      const { claimcheck } = globalThis as unknown as { claimcheck: { checkBundle: typeof checkBundle } }
      const reports = []
      for (const one of all) reports.push(await claimcheck.checkBundle(one, { fromIssuer: true }))
      return reports
    }, all)
    t.strictSame(inBrowser, JSON.parse(JSON.stringify(inNode)))
    t.equal(inNode.slice(bundles.length).filter(({ valid }) => valid).length, 0, 'no mutation is valid')
    t.ok(
      inNode.slice(0, bundles.length).some(({ valid }) => valid),
      'some vectors are',
    )
  })
})

interface Tamperable {
  readonly body: { readonly verdict: object }
  readonly proof: object
}

/** Each with one character of the body or the signature replaced by another one. */
function mutationsOf(receipt: string, count: number): string[] {
  const { proof: _, ...signed } = JSON.parse(receipt) as Receipt
  const end = JSON.stringify(signed).length
  const text = JSON.stringify({ ...signed, proof: (JSON.parse(receipt) as Receipt).proof })
  const mutants: string[] = []
  while (mutants.length < count) {
    const at = 1 + Math.floor(Math.random() * (end - 2))
    const other = String.fromCharCode(32 + Math.floor(Math.random() * 95))
    const mutant = text.slice(0, at) + other + text.slice(at + 1)
    if (!isSame(mutant, text)) mutants.push(mutant)
  }
  return mutants
}

/** Some changes are none: a letter of an escape may be written in two ways. */
function isSame(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}
