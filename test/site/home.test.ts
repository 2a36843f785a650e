/** The home for strangers at `/`, and what browsers and programs get at addresses that do not exist. */
import t from 'tap'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'

const installation = sharedInstallation({ plugins: [SCRIPTED], env: { SECURITY_CONTACT: '' } })
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

async function ask(path: string, headers: Record<string, string> = BROWSER) {
  const { url } = await installation()
  const response = await fetch(url + path, { redirect: 'manual', headers })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    to: response.headers.get('location'),
    text,
    response,
  }
}

t.test('strangers find what this is, who runs it, its key and its log', async (t) => {
  const { url } = await installation()
  const { status, text, response } = await ask('/')
  t.equal(status, 200)
  t.match(response.headers.get('content-security-policy'), /default-src 'none'/)
  const { keys } = (await (await fetch(`${url}/.well-known/poaw-keys.json`)).json()) as { keys: { key_id: string }[] }
  for (const words of [
    '<h1>Receipts for what',
    'Who vouches',
    `${url}/.well-known/poaw-keys.json`,
    keys[0]!.key_id,
    'href="/log"',
    'href="/check.html"',
    'href="/console"',
    'href="/docs',
  ])
    t.ok(text.includes(words), words)
  t.notMatch(text, /On the chain/, 'nothing was anchored')
})

const ID = 'rcpt_01ARZ3NDEKTSV4RRFFQ69G5FAV'

for (const typed of [
  ID,
  ` ${ID}\n`,
  `https://elsewhere.example/r/${ID}`,
  `https://elsewhere.example/r/${ID}.json?x=1`,
  `http://localhost:8080/v1/receipts/${ID}/evidence`,
]) {
  t.test(`${JSON.stringify(typed)} leads to the receipt`, async (t) => {
    const { status, to } = await ask(`/?receipt=${encodeURIComponent(typed)}`)
    t.strictSame([status, to], [303, `/r/${ID}`])
  })
}

for (const typed of [
  '',
  'x',
  'clm_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  `${ID}0`,
  'rcpt_1',
  `<script>${'x'.repeat(600)}`,
  '//evil.example/rcpt_',
]) {
  t.test(`${JSON.stringify(typed.slice(0, 40))} names no receipt`, async (t) => {
    const { status, to, text } = await ask(`/?receipt=${encodeURIComponent(typed)}`)
    t.strictSame([status, to], [422, null])
    t.match(text, /This names no receipt/)
    t.notMatch(text, /<script>x/)
  })
}

t.test('a receipt that is not there is said to be not there', async (t) => {
  const { status, text } = await ask(`/r/${ID}`)
  t.equal(status, 404)
  t.match(text, /there is no such receipt/i)
})

t.test('a wrong address is a page for people, and JSON for programs', async (t) => {
  const page = await ask('/nope?x=<b>')
  t.strictSame([page.status, page.type], [404, 'text/html; charset=utf-8'])
  t.match(page.text, /<h1>Not found<\/h1>/)
  t.match(page.response.headers.get('content-security-policy'), /default-src 'none'/)
  t.equal(page.response.headers.get('cache-control'), 'no-store')
  for (const [path, headers] of [
    ['/v1/nope', BROWSER],
    ['/.well-known/nope', BROWSER],
    ['/v1', BROWSER],
    ['/nope', { accept: 'application/json' }],
    ['/nope', { accept: '*/*' }],
  ] as const) {
    const { status, text } = await ask(path, headers)
    t.strictSame([status, text], [404, '{"detail":"not found"}'], path)
  }
})
