/** The page of a receipt over HTTP: what it says, what it keeps to itself, and what can be taken along. Threat S3 of `security.md`. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { checkBundle } from '@claimcheck/core/receipts'
import { bundleText, readBundle } from '@claimcheck/core/words/document'
import { badgeOf, iconOf } from '@claimcheck/server/features/site/receipt/badge'
import { ReceiptArticle, titleOf } from '@claimcheck/server/features/site/receipt/receipt-page'
import { renderPage } from '@claimcheck/server/web/document'
import { stepsOf, uncheckedSteps } from '@claimcheck/server/web/receipt-view/steps'
import { headingOf, viewOf } from '@claimcheck/server/web/receipt-view/view'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import type { Client } from '../support/client.ts'
import { runClaimcheck } from '../support/command.ts'
import { forgedBundle } from '../support/forged-bundle.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const MARKUP = `<b>x</b>"'\u202eend`

let listed: Installation
let unlisted: Installation
let client: Client
let verified: string

t.before(async () => {
  listed = await Installation.start({
    file: { sources: { test: [{ url: 'https://example.com', plugins: ['scripted'] }] } },
  })
  unlisted = await Installation.start({ plugins: [SCRIPTED] })
  client = await listed.client('acme')
  verified = await receiptOf(client, {})
})
afterFile(async () => {
  await listed.remove()
  await unlisted.remove()
})

async function receiptOf(client: Client, claim: object): Promise<string> {
  const { body } = await client.submit(claim)
  return (await client.decided(body.claim_id)).receipt_id
}

async function get(path: string, accept = BROWSER, at = listed) {
  const response = await fetch(new URL(path, at.url), { headers: { accept }, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

t.test('the page leads with the finding, and says where it was read and who chose that place', async (t) => {
  const { status, headers, text } = await get(`/r/${verified}`)
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^text\/html/)
  t.match(text, /<h1>somewhere was there in time<\/h1>/)
  t.match(text, /It was there at example\.com by 20\d\d-[\d-]+ [\d:]+ UTC/)
  t.match(text, /The issuer lists this destination as public/)
  t.match(text, /<title>Verified: somewhere was there in time/)
  t.match(text, /property="og:title" content="Verified: somewhere was there in time"/)
  t.match(text, /Nothing is checked yet/, 'without a script nothing claims to be checked')
  t.notMatch(text, /class="holds"/)
})

const VECTORS: readonly (readonly [string, RegExp, RegExp])[] = [
  [
    'evidence-follows-verified',
    /^Verified: There as claimed, in time/,
    /Check [^:]+ the claim: it was there as claimed/,
  ],
  ['evidence-follows-late', /^Late: Too late: there /, /it was there as claimed/],
  ['evidence-follows-mismatch', /^Mismatch: ./, /it was there, but not as claimed/],
  ['evidence-follows-failed', /^Failed: Not there by the deadline/, /it was not there/],
  ['evidence-follows-unverifiable', /^Unverifiable: Could not be checked/, /nothing could be read|it was not there/],
]

for (const [name, title, line] of VECTORS) {
  t.test(`${name} reads as what it says`, async (t) => {
    const read = (file: string) => readFileSync(join('test/vectors', file), 'utf8')
    const bundle = { receipt: read(`${name}-receipt.json`), evidence: read(`${name}.json`), keys: read('keys.json') }
    const view = viewOf(bundle, await checkBundle(bundle, { fromIssuer: true }))!
    t.match(`${headingOf(view)}: ${view.finding}`, title)
    t.equal(view.tone, view.verdict)
    const article = { view, steps: uncheckedSteps(), checkedBy: undefined, links: undefined, raw: [] }
    t.match(renderPage(ReceiptArticle(article)), line)
  })
}

t.test('an unlisted place is never green: not on the page, not in its icon, not in its badge', async (t) => {
  const id = await receiptOf(await unlisted.client('acme'), {})
  const page = await get(`/r/${id}`, BROWSER, unlisted)
  t.match(page.text, /Verified, at a destination that the issuer does not list/)
  t.notMatch(page.text, /class="receipt tone-verified"/)
  const green = '#11692f'
  for (const form of ['svg', 'icon.svg']) {
    t.notMatch((await get(`/r/${id}.${form}`, BROWSER, unlisted)).text, green, form)
    t.match((await get(`/r/${verified}.${form}`)).text, green, form)
  }
  t.match((await get(`/r/${id}.svg`, BROWSER, unlisted)).text, 'verified at an unlisted destination')
})

t.test(
  'a receipt of which a check fails is never green, before anybody looks: not on the page, its title, icon or badge',
  async (t) => {
    const bundle = readBundle((await get(`/r/${verified}.json`)).text)!
    t.equal(viewOf(bundle, await checkBundle(bundle, { fromIssuer: true }))!.tone, 'verified')
    const { evidence_version, ...rest } = JSON.parse(bundle.evidence!)
    const broken = [
      { ...bundle, receipt: bundle.receipt.replace('"attempts":1', '"attempts":2') },
      { ...bundle, evidence: JSON.stringify({ evidence_version, ...rest, more: 1 }) },
      { ...bundle, receipt: bundle.receipt.replace(/(?<="log_id":")./, (first) => (first === 'A' ? 'B' : 'A')) },
    ]
    for (const [index, changed] of broken.entries()) {
      const view = viewOf(changed, await checkBundle(changed, { fromIssuer: true }))!
      t.equal(view.tone, 'doubtful', String(index))
      t.match(titleOf(view), /^Do not rely on this: a proof fails/)
      t.match(badgeOf(view.tone), 'a proof fails')
      for (const svg of [badgeOf(view.tone), iconOf(view.tone)]) t.notMatch(svg, '#11692f')
      const article = { view, steps: uncheckedSteps(), checkedBy: undefined, links: undefined, raw: [] }
      t.notMatch(renderPage(ReceiptArticle(article)), 'class="receipt tone-verified"')
    }
  },
)

t.test(
  'a head of the service that no key of it signed fails; among files of several ages it is not checked',
  async (t) => {
    const { tree_head = '', ...bundle } = readBundle((await get(`/r/${verified}.json`)).text)!
    const resigned = tree_head.replace(/"issued_at":"\d/, '"issued_at":"1')
    const report = await checkBundle({ ...bundle, tree_head: resigned }, { fromIssuer: true })
    t.match(report, { valid: true, tree_head: { tree_head: 'not_signed' } })
    const { proof } = JSON.parse(bundle.receipt)
    const headStep = (isGiven: boolean) => stepsOf(report, proof, { isGiven }).find(({ name }) => name === 'tree_head')
    t.match(headStep(false), { state: 'fails' })
    t.match(headStep(true), { state: 'not_checked' })
    t.equal(viewOf(bundle, report)!.tone, 'doubtful')
    t.equal(viewOf(bundle, report, { isGiven: true })!.tone, 'verified')
  },
)

t.test(
  'names that turn text around turn none in titles and raw data, and no host of a request stands in a page',
  async (t) => {
    const bundle = readBundle((await get(`/r/${verified}.json`)).text)!
    const view = viewOf(bundle, await checkBundle(bundle, { fromIssuer: true }))!
    t.equal(titleOf({ ...view, finding: 'a\u202eb' }), 'Verified: a<U+202E>b')
    const raw = [['The receipt', '{"a":"\u202e"}']] as const
    const article = { view, steps: uncheckedSteps(), checkedBy: undefined, links: undefined, raw }
    const page = renderPage(ReceiptArticle(article))
    t.notMatch(page, '\u202e')
    t.match(page, '\\u202e', 'as JSON writes it')

    const { hostname, port } = new URL(listed.url)
    for (const host of ['evil.example', 'evil"b', 'evil)b', "evil'b", 'user@evil', 'evil/b', 'evil?b']) {
      for (const path of [`/r/${verified}`, '/log/proof?leaf=0']) {
        const text = await new Promise<string>((done, fail) =>
          request({ hostname, port, path, headers: { host, accept: BROWSER } }, (answer) => {
            const parts: Buffer[] = []
            answer.on('data', (part) => parts.push(part))
            answer.on('end', () => done(Buffer.concat(parts).toString()))
          })
            .on('error', fail)
            .end(),
        )
        t.notMatch(text, 'evil', `${host}${path}`)
        t.match(text, listed.url)
      }
    }
  },
)

t.test('an id that is unknown looks like one that can be none', async (t) => {
  const pages = await Promise.all(
    ['rcpt_01K0000000000000000000000A', 'rcpt_', 'x', `${'y'.repeat(80)}`, '%3Cb%3E', `${verified}.pdf`].map((id) =>
      get(`/r/${id}`),
    ),
  )
  const headersOf = ({ headers }: (typeof pages)[number]) =>
    Object.fromEntries([...headers].filter(([name]) => name !== 'date'))
  for (const page of pages) {
    t.match(page, { status: 404, text: pages[0]!.text })
    t.strictSame(headersOf(page), headersOf(pages[0]!))
  }
  t.match(pages[0]!.text, /There is no such receipt: look whether the whole address was copied/)
})

t.test('no search engine keeps it, and browsers keep it for seconds', async (t) => {
  const { headers, text } = await get(`/r/${verified}`)
  t.equal(headers.get('x-robots-tag'), 'noindex')
  t.match(text, /<meta name="robots" content="noindex"/)
  t.equal(headers.get('cache-control'), 'public, max-age=5')
  t.match(headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/)
})

t.test('who prefers HTML is sent from the document to the page; all others get the document', async (t) => {
  const path = `/v1/receipts/${verified}`
  const sent = await get(path)
  t.equal(sent.status, 303)
  t.equal(sent.headers.get('location'), `/r/${verified}`)
  t.equal(sent.headers.get('vary'), 'Accept')
  for (const accept of [
    '*/*',
    'application/json',
    'application/json, text/html;q=0.9',
    'text/html;q=0',
    'text/plain',
  ]) {
    const { status, headers, text } = await get(path, accept)
    t.equal(status, 200, accept)
    t.match(headers.get('vary'), 'Accept')
    t.equal(JSON.parse(text).body.receipt_id, verified)
  }
  t.equal((await get('/v1/receipts/rcpt_none', BROWSER)).status, 303, 'before it is known whether there is one')
})

t.test('texts of the agent are texts, and turn nothing around', async (t) => {
  const id = await receiptOf(client, { agent_id: MARKUP.replace('\u202e', ''), target: MARKUP })
  const { text } = await get(`/r/${id}`)
  t.notMatch(text, '<b>x</b>')
  t.notMatch(text.replace(/<details>.*?<\/details>/gs, ''), '\u202e')
})

t.test('the file to take along holds everything: the library and the command line say the same of it', async (t) => {
  const { headers, text } = await get(`/r/${verified}.json`)
  t.match(headers.get('content-type'), /^application\/json/)
  const bundle = readBundle(text)!
  t.strictSame(
    Object.keys(bundle).sort(),
    [
      'evidence',
      'keys',
      'profiles',
      'receipt',
      'tree_head',
      ...('consistency' in bundle ? ['consistency'] : []),
    ].sort(),
  )
  const pinnedKey = JSON.parse(bundle.receipt).signature.key_id
  const report = await checkBundle(bundle, { pinnedKey })
  t.match(report, {
    valid: true,
    vouched_by: 'pin',
    tree_head: { tree_head: 'holds' },
    evidence: { evidence: 'follows', rules: 'published' },
  })
  const folder = t.testdir()
  writeFileSync(join(folder, 'bundle.json'), text)
  const { code, stdout } = await runClaimcheck(folder, ['verify', 'bundle.json', '--pin', pinnedKey, '--json'])
  t.equal(code, 0)
  t.strictSame(JSON.parse(stdout), report)
})

t.test(
  'verify takes the address of the page, binds the proof to the newest tree head, and tells when it does not',
  async (t) => {
    const folder = t.testdir()
    await receiptOf(client, {})
    const page = new URL(`/r/${verified}`, listed.url).href
    const { code, stdout } = await runClaimcheck(folder, ['verify', page])
    t.equal(code, 0)
    t.match(stdout, /tree head +holds: the issuer signed the state of its log with \d+ entries/)

    const receipt = JSON.parse((await get(`/v1/receipts/${verified}`, '*/*')).text)
    const logId = receipt.proof.log_id.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A'))
    const other = { ...receipt, proof: { ...receipt.proof, log_id: logId } }
    writeFileSync(join(folder, 'other.json'), JSON.stringify(other))
    const keys = new URL('/.well-known/poaw-keys.json', listed.url).href
    const told = await runClaimcheck(folder, ['verify', 'other.json', '--keys', keys])
    t.match(told, {
      code: 1,
      stdout: /^NOT as asked: the receipt is valid, but the signed tree head is of another log/,
    })
    t.match(told.stdout, /tree head +DOES NOT HOLD: .*\(other_log\)/)
    const json = await runClaimcheck(folder, ['verify', 'other.json', '--keys', keys, '--json'])
    t.match(JSON.parse(json.stdout), { valid: true, tree_head: { tree_head: 'other_log' } })
  },
)

t.test('a pinned key decides the exit code, and a head that an option names must hold', async (t) => {
  const folder = t.testdir({ 'head.json': '{"body":{"tree_size":1}}' })
  const url = new URL(`/v1/receipts/${verified}`, listed.url).href
  const { signature } = JSON.parse((await get(`/v1/receipts/${verified}`, '*/*')).text)
  const verify = (...args: readonly string[]) => runClaimcheck(folder, ['verify', url, ...args])
  t.match(await verify('--pin', signature.key_id), { code: 0 })
  const stranger = `ed25519:${'A'.repeat(43)}`
  t.match(await verify('--pin', stranger), {
    code: 1,
    stdout: /^NOT as asked: .* signed by another key than ed25519:AAA/,
  })
  t.match(await verify('--pin', 'abc'), { code: 2, stderr: /--pin takes the id of a key/ })
  t.match(await verify('--head', 'head.json'), { code: 1, stdout: /no published key signed this tree head/ })
  t.match(await verify('--head', 'none.json'), { code: 2, stderr: /none\.json could not be read/ })
})

t.test(
  'a bundle proves nothing about whose keys it brings: it says so, until a key is pinned or keys are named',
  async (t) => {
    const text = (await get(`/r/${verified}.json`)).text
    const folder = t.testdir({ 'bundle.json': text, 'keys.json': readBundle(text)!.keys! })
    const { signature } = JSON.parse(readBundle(text)!.receipt)
    const verify = (...args: readonly string[]) => runClaimcheck(folder, ['verify', 'bundle.json', ...args])
    const alone = await verify()
    t.match(alone, { code: 2, stdout: /^Signed by a key that nothing vouches for\..* --keys .* --pin/s })
    t.match(alone.stdout, /^It says verified: .*issuer, as it says/ms)
    t.notMatch(alone.stdout, /valid/i)
    t.match(alone.stdout, /As the bundle words it:/)
    t.match(alone.stdout, /by the rules that these documents give as the issuer’s/)
    t.match(JSON.parse((await verify('--json')).stdout), { valid: false, verdict: null, vouched_by: 'nothing' })
    for (const [args, key] of [
      [['--keys', 'keys.json'], /^Key: one of the document that --keys names\.$/m],
      [['--pin', signature.key_id], /^Key: the one that --pin names\.$/m],
    ] as const) {
      const { code, stdout } = await verify(...args)
      t.equal(code, 0)
      t.match(stdout, key)
    }
    const url = new URL(`/v1/receipts/${verified}`, listed.url)
    const published = await runClaimcheck(folder, ['verify', url.href])
    t.match(published.stdout, `Key: one that ${url.host} publishes, which vouches for it.`)
  },
)

t.test('a bundle that a stranger signed in the name of this issuer passes nowhere', async (t) => {
  const real = readBundle((await get(`/r/${verified}.json`)).text)!
  const forged = await forgedBundle(real)
  const broken = { ...forged, receipt: forged.receipt.replace('"attempts":1', '"attempts":2') }
  const folder = t.testdir({
    'forged.json': bundleText(forged),
    'broken.json': bundleText(broken),
    'keys.json': real.keys!,
  })
  const verify = (...args: readonly string[]) => runClaimcheck(folder, ['verify', ...args])
  const passes = ['--listed', '--expect-source', 'example.com']
  t.match(await verify('forged.json', ...passes), { code: 2, stdout: /^Signed by a key that nothing vouches for/ })
  t.match(await verify('forged.json', '--expect-source', 'elsewhere.example'), { code: 1, stdout: /^NOT as asked/ })
  t.match(await verify('forged.json', '--keys', 'keys.json', ...passes), { code: 1, stdout: /^NOT valid/ })
  const pin = JSON.parse(real.receipt).signature.key_id
  t.match(await verify('forged.json', '--pin', pin), { code: 1, stdout: /^NOT as asked: .* signed by another key/ })
  t.match(await verify('broken.json'), { code: 1, stdout: /^NOT valid/ }, 'a broken signature is no open question')

  const report = await checkBundle(forged)
  const view = viewOf(forged, report, { isGiven: true })!
  t.equal(view.tone, 'unvouched')
  for (const svg of [badgeOf(view.tone), iconOf(view.tone)]) t.notMatch(svg, '#11692f')
  const steps = stepsOf(report, view.proof, { isGiven: true })
  t.match(steps, [{ name: 'signature', state: 'not_checked', text: /Nothing here shows who holds that key/ }])
  const page = renderPage(ReceiptArticle({ view, steps, checkedBy: undefined, links: undefined, raw: [] }))
  t.match(page, /Signed by a key that nothing vouches for.*It says: There as claimed, in time/s)
  t.notMatch(page, /tone-verified|class="holds"|the issuer signed/i)
})

t.test('the words in a bundle never count as those of the issuer that --keys names', async (t) => {
  const bundle = readBundle((await get(`/r/${verified}.json`)).text)!
  const [profile] = JSON.parse(bundle.profiles!).profiles
  const outcomes = { ...profile.words.outcomes, verified: 'A million was paid.' }
  const profiles = JSON.stringify({ profiles: [{ ...profile, words: { ...profile.words, outcomes } }] })
  const folder = t.testdir({ 'bundle.json': bundleText({ ...bundle, profiles }) })
  const keys = new URL('/.well-known/poaw-keys.json', listed.url).href
  const { code, stdout } = await runClaimcheck(folder, ['verify', 'bundle.json', '--keys', keys])
  t.equal(code, 0)
  t.match(stdout, `As ${new URL(listed.url).host} words it:`)
  t.notMatch(stdout, 'A million was paid')
  t.match(
    (await runClaimcheck(folder, ['verify', 'bundle.json'])).stdout,
    /As the bundle words it:.*A million was paid/s,
  )
})

t.test('--head asks for a comparison: a receipt without its proof does not pass', async (t) => {
  const { proof: _, ...receipt } = JSON.parse((await get(`/v1/receipts/${verified}`, '*/*')).text)
  const folder = t.testdir({ 'receipt.json': JSON.stringify(receipt) })
  const at = (path: string) => new URL(path, listed.url).href
  const args = ['verify', 'receipt.json', '--keys', at('/.well-known/poaw-keys.json')]
  t.match(await runClaimcheck(folder, args), { code: 0 })
  t.match(await runClaimcheck(folder, [...args, '--head', at('/v1/log/head')]), {
    code: 1,
    stdout: /^NOT as asked: .* it has no proof that could be compared with the tree head/,
  })
})

t.test('bytes that are no text are not read as some text', async (t) => {
  const folder = t.testdir({ 'receipt.json': Buffer.from([0x7b, 0xff, 0x7d]) })
  const args = ['verify', 'receipt.json', '--keys', new URL('/.well-known/poaw-keys.json', listed.url).href]
  t.match(await runClaimcheck(folder, args), { code: 2, stderr: /receipt\.json could not be read/ })
})

t.test('the offline checker is one file that may ask nobody', async (t) => {
  const { status, headers, text } = await get('/check.html')
  t.equal(status, 200)
  t.match(headers.get('content-security-policy'), /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/)
  t.match(text, /http-equiv="Content-Security-Policy" content="default-src (&#39;|')none/)
  t.notMatch(text, /<(?:script|link)[^>]*(?:src|href)=/)
  const policy = headers.get('content-security-policy')!
  for (const name of ['script', 'style']) {
    const [, content] = new RegExp(`<${name}[^>]*>(.*?)</${name}>`, 's').exec(text)!
    t.match(policy, `${name}-src 'sha256-${createHash('sha256').update(content!).digest('base64')}'`, name)
    t.notMatch(content, /<!--|\r/, 'which a browser reads as something else')
  }
})
