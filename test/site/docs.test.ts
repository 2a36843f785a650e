/** The documentation at `/docs`: every page, what pages link to, the reference with its examples, and the search index. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { FAILURE_CODES, type JsonObject, type JsonValue, REASONS } from '@claimcheck/core/rules'
import { apiPages, type OpenApi } from '@claimcheck/server/features/site/docs/api/api-pages'
import { CHAPTERS } from '@claimcheck/server/features/site/docs/contents'
import { type Found, openSearch } from '@claimcheck/server/features/site/docs/search-index'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import { type Block, readPage } from '../docs/markdown.ts'
import { afterFile } from '../support/after-file.ts'
import { Installation, SCRIPTED, sharedInstallation } from '../support/installation.ts'

const execute = promisify(execFile)
/** A page with its scripts and styles, 24 kB of which are the search. */
const MAX_BYTES = 110_000

const github = await startGitHub()
afterFile(() => github.close())
const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
afterFile(() => receiver.close())
const receiverHost = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
const installation = sharedInstallation({
  plugins: [{ use: resolve('plugins/codehost'), with: { public_base_url: github.url }, trusted: true }, SCRIPTED],
  env: { ALLOW_PRIVATE: new URL(github.url).host },
  file: { webhooks: { allow_private: [receiverHost] } },
})

/** Operations whose page says in words how to call them: a hint is signed by its sender, and only a waiting claim takes a look. */
const WITHOUT_EXAMPLE = new Set([
  'Say that something changed at a destination',
  'Ask for a look at a waiting claim',
  'Look at a decided claim again',
  'Read a signed finding with the proof that it is in the log',
  'Read the evidence of a finding',
])

async function ask(path: string) {
  const response = await fetch((await installation()).url + path, { redirect: 'manual' })
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}

async function read(path: string): Promise<string> {
  const { status, text } = await ask(path)
  if (status !== 200) throw new Error(`${path} answered ${status}`)
  return text
}

/** The addresses of all pages, as the list beside each of them has them. */
async function allPages(): Promise<string[]> {
  const [, menu = ''] = /<nav aria-label="Documentation">(.*?)<\/nav>/s.exec(await read('/docs')) ?? []
  return [...menu.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!)
}

const sizes = new Map<string, Promise<number>>()

function sizeOf(path: string): Promise<number> {
  const known = sizes.get(path) ?? read(path).then((text) => Buffer.byteLength(text))
  sizes.set(path, known)
  return known
}

/** Of a page: itself, its style and its scripts. */
async function bytesOf(html: string): Promise<number> {
  const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  const bytes = await Promise.all(files.map(sizeOf))
  return bytes.reduce((sum, one) => sum + one, Buffer.byteLength(html))
}

t.test('every page is there, small, with a heading, and nothing of another host', async (t) => {
  const pages = await allPages()
  t.ok(pages.length > 35, `${pages.length} pages`)
  for (const path of pages) {
    const { status, headers, text } = await ask(path)
    t.equal(status, 200, path)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': /^default-src 'none'; script-src 'self'; style-src 'self';/,
      'cache-control': 'public, max-age=5',
    })
    t.match(text, /<h1\b/, path)
    t.notMatch(text, /<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//, path)
    t.notMatch(text, /&lt;!--|\sstyle="|<\/script>[^<]*<script>/, path)
    const bytes = await bytesOf(text)
    t.ok(bytes <= MAX_BYTES, `${path} is ${bytes} bytes`)
    t.equal(path === '/docs' || text.includes(`href="${path}" aria-current="page"`), true, `${path} is marked`)
  }
})

t.test('every link leads to a page and to a heading in it', async (t) => {
  const pages = new Map<string, string>()
  for (const path of await allPages()) pages.set(path, await read(path))
  for (const [path, html] of pages) {
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!)
    const broken = links.filter((link) => {
      if (!/^(?:\/docs|#)/.test(link)) return /\.md\b/.test(link)
      const [target, anchor] = link.split('#')
      const found = pages.get(target || path)
      return found === undefined || (anchor !== undefined && !found.includes(`id="${anchor}"`))
    })
    t.strictSame(broken, [], path)
  }
})

t.test('every page of the repository is in the list', async (t) => {
  const listed = CHAPTERS.flatMap(({ pages }) => pages).flatMap((page) => (typeof page === 'string' ? [] : page.file))
  const own = readdirSync('server/docs').filter((file) => file.endsWith('.md'))
  t.strictSame(
    own.filter((file) => !listed.includes(`server/docs/${file}`)),
    [],
  )
  for (const file of listed) {
    const [, title] = /^# (.+)$/m.exec(readFileSync(file, 'utf8'))!
    t.match(await read('/docs'), title!.replaceAll('`', ''), file)
  }
})

t.test('an action of a plugin that does not come with the server has a page', async (t) => {
  t.match(await read('/docs/actions'), 'href="/docs/actions/test.outcome.reach"')
  t.match(await read('/docs/actions/test.outcome.reach'), 'test.outcome.reach')
})

t.test('a page that is not there is told, with the list and the search', async (t) => {
  for (const path of ['/docs/nothing', '/docs/actions/..%2fconcepts', '/docs/%3Cscript%3E', '/docs/constructor']) {
    const { status, text, headers } = await ask(path)
    t.equal(status, 404, path)
    t.equal(headers['cache-control'], 'no-store')
    t.match(text, /<h1>Page not found<\/h1>/)
    t.match(text, 'aria-label="Documentation"')
    t.match(text, 'class="docs-search"')
  }
  const { status, headers } = await ask('/docs/')
  t.match({ status, headers }, { status: 301, headers: { location: '/docs' } })
})

t.test('the page on security says how to reach the operator', async (t) => {
  t.match(await read('/docs/security'), 'The operator of this service names no address')
  const contact = 'mailto:security@example.com?subject="<weakness>"'
  const other = await Installation.start({ file: { security_contact: contact } })
  t.teardown(() => other.remove())
  const page = await (await fetch(`${other.url}/docs/security`)).text()
  t.match(page, /<a href="mailto:security@example\.com\?subject=&quot;[^"]*">security@example\.com/)
  t.notMatch(page, '<weakness>')
  t.match(await (await fetch(`${other.url}/.well-known/security.txt`)).text(), `Contact: ${contact}\n`)
})

t.test('markup of Markdown is text, and a language can be chosen', async (t) => {
  const quickstart = await read('/docs/quickstart')
  t.match(quickstart, /<input type="radio" name="language" id="language-sh" checked/)
  t.match(quickstart, /<figure class="example" data-language="ts"><figcaption>TypeScript/)
  t.match(await read('/docs/anchors'), '<h2 id="checking-an-anchor">')
  t.match(await read('/docs/configuration'), 'such as those that bound git', 'a link out of the pages is its text')
})

const search = async () => openSearch(await read('/docs/search.json'))
const pathOf = (found: Found | undefined) => found?.href.replace(/^\/docs\/([^/#]+).*/, '$1') ?? '-'

t.test('the search has every page, and names with underscores', async (t) => {
  const text = await read('/docs/search.json')
  t.ok(Buffer.byteLength(text) < 400_000, `${Buffer.byteLength(text)} bytes`)
  const { storedFields } = JSON.parse(text) as { readonly storedFields: Readonly<Record<string, Found>> }
  const pages = new Set(Object.values(storedFields).map(({ href }) => href.replace(/#.*/, '')))
  t.strictSame([...pages].toSorted(), (await allPages()).slice(1).toSorted())
  t.ok((await search()).find('claim_ambiguous').some((found) => pathOf(found) === 'errors'))
  t.strictSame((await search()).find('xyzzy plugh'), [])
})

/** Questions that people type, and the pages of which one is the first answer. */
const QUESTIONS = {
  'how do I revoke a key': 'keys commands console',
  nginx: 'proxy',
  'back up': 'backup',
  restore: 'backup',
  docker: 'containers',
  kubernetes: 'containers',
  alert: 'monitoring alerts',
  notification: 'alerts configuration monitoring limits',
  slack: 'alerts',
  email: 'configuration console',
  'how do I delete a workspace': 'console commands',
  python: 'python',
  unverifiable: 'concepts errors',
  'self-hosted gitlab': 'commands configuration',
  'forgot password': 'console',
  SSO: 'console',
  'two factor': 'console',
  recipt: 'checking-a-receipt',
  webhok: 'webhooks',
  pagination: 'api',
  'can I trust a receipt': 'checking-a-receipt evidence concepts',
  'how do I verify a receipt offline': 'checking-a-receipt',
  'write a plugin': 'writing-a-verifier',
  'custom destination': 'writing-a-verifier',
  'first claim': 'quickstart',
  'connection refused': 'console errors',
  invite: 'console',
  quota: 'configuration errors',
  '429': 'errors',
  prometheus: 'monitoring',
  gdpr: 'erasure',
  'audit log': 'audit-trail',
  'pre-commit': 'git-hook',
  'merkle tree': 'logs',
} as const

t.test('the search answers what people ask', async (t) => {
  const { find } = await search()
  for (const [question, pages] of Object.entries(QUESTIONS)) {
    const found = find(question)
    t.ok(pages.split(' ').includes(pathOf(found[0])), question, { found: found.slice(0, 5).map(({ href }) => href) })
  }
})

t.test('the page of errors has every code', async (t) => {
  const { spans, anchors } = readPage(readFileSync('server/docs/errors.md', 'utf8'))
  const wording = readFileSync('server/src/base/validation-wording.ts', 'utf8')
  const mistakes = [...wording.matchAll(/\btype: '(\w+)'/g)].map(([, type]) => type!)
  t.ok(mistakes.length > 20)
  for (const code of [...Object.values(REASONS).flat(), ...FAILURE_CODES, ...mistakes]) t.ok(spans.includes(code), code)
  const { paths } = JSON.parse(await read('/openapi.json')) as OpenApi
  const refused = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.keys(responses).filter((status) => Number(status) >= 400)),
  )
  for (const status of new Set(refused)) {
    t.ok(anchors.includes(`${status}-${STATUS_CODES[status]!.toLowerCase().replaceAll(' ', '-')}`), status)
  }
})

/** Each example of the reference: what is typed, and what it answers. */
function examplesIn(markdown: string): { readonly typed: Block; readonly answer: JsonValue }[] {
  const { blocks } = readPage(markdown)
  return blocks.flatMap((typed, index) =>
    typed.language === 'sh' ? [{ typed, answer: JSON.parse(blocks[index + 1]!.text) as JsonValue }] : [],
  )
}

t.test('the examples of the reference answer what they show', async (t) => {
  const { url } = await installation()
  const openApi = JSON.parse(await read('/openapi.json')) as OpenApi
  const host = await installation()
  const { key, workspaceId } = await host.client('examples')
  const { webhooks } = host.claimcheck
  const filters = { types: ['claim.decided'], verdicts: [], actions: [], agents: [], connections: [] }
  await webhooks.add(workspaceId, { format: 'standard', url: `http://${receiverHost}/`, filters })
  const repository = await github.createRepository('octo-org/hello-world')
  const sha = await repository.commit()
  await repository.push('main', sha)
  const ids = { clm: '', rcpt: '', msg: '' }
  // The second claim makes the log large enough for every proof.
  async function run(text: string, clientClaimId = 'run-4711'): Promise<JsonObject> {
    const filled = text
      .replaceAll('https://claims.example.com', url)
      .replaceAll('0123456789abcdef0123456789abcdef01234567', sha)
      .replaceAll(/"claimed_at": "[^"]+"/g, `"claimed_at": "${new Date().toISOString()}"`)
      .replaceAll(/clm_\w+/g, ids.clm)
      .replaceAll(/rcpt_\w+/g, ids.rcpt)
      .replaceAll(/msg_\w+/g, ids.msg)
      .replaceAll('run-4711', clientClaimId)
    const { stdout } = await execute('bash', ['-c', filled], { env: { ...process.env, KEY: key } })
    return JSON.parse(stdout)
  }

  const ajv = new Ajv2020({ strict: false, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema({ ...openApi, $id: 'description' })
  const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, responses }]) => {
      const status = Object.keys(responses)[0]!
      return { summary, pointer: `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}` }
    }),
  )
  const shown = apiPages(openApi, 'https://claims.example.com').flatMap(({ text }) =>
    text.split(/^## /m).flatMap((part) => {
      const summary = part.split('\n')[0]!
      return examplesIn(part).map((example) => ({ summary, ...example }))
    }),
  )
  const withExample = operations.filter(({ summary }) => !WITHOUT_EXAMPLE.has(summary))
  t.strictSame(shown.map(({ summary }) => summary).toSorted(), withExample.map(({ summary }) => summary).toSorted())

  async function holds({ summary, typed, answer }: (typeof shown)[number]): Promise<JsonObject> {
    const { pointer } = operations.find((one) => one.summary === summary)!
    const check = ajv.compile({ $ref: `description#${encodeURI(`${pointer}/content/application~1json/schema`)}` })
    t.ok(check(answer), `${summary}: ${JSON.stringify(check.errors)}`)
    const real = await run(typed.text)
    t.strictSame(differences(answer, real), [], `${summary}: ${JSON.stringify(real).slice(0, 300)}`)
    return real
  }

  const [first, ...others] = shown
  const submitted = await holds(first!)
  Object.assign(ids, { clm: submitted.claim_id, rcpt: submitted.receipt_id })
  while (ids.msg === '') {
    const [delivery] = await webhooks.deliveries(workspaceId, { limit: 1, state: 'delivered' })
    ids.msg = delivery?.id ?? ''
    if (!delivery) await setTimeout(50)
  }
  await run(first!.typed.text, 'run-4712')
  const isResend = ({ summary }: (typeof shown)[number]) => summary.startsWith('Send a delivery again')
  await Promise.all(others.filter((one) => !isResend(one)).map(holds))
  await holds(others.find(isResend)!)
})

/** Where the answer has not what the example shows: a member less, or another type. */
function differences(shown: JsonValue, real: JsonValue | undefined, path = ''): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [`${path} is no list`]
    return shown.length > 0 && real.length > 0 ? differences(shown[0]!, real[0], `${path}[]`) : []
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [`${path} is no object`]
    const members = real as JsonObject
    return Object.entries(shown).flatMap(([name, member]) => differences(member, members[name], `${path}.${name}`))
  }
  return typeof shown === typeof real && (shown === null) === (real === null) ? [] : [`${path} is ${String(real)}`]
}

t.test('an example that shows what is not there would fail', async (t) => {
  t.strictSame(differences({ a: 1, b: [{ c: 'x' }] }, { a: 2, b: [{ c: 'y', d: 1 }] }), [])
  t.strictSame(differences({ a: 1, b: [{ c: 'x' }], e: null }, { a: '2', b: [{ d: 1 }], e: 1 }), [
    '.a is 2',
    '.b[].c is undefined',
    '.e is 1',
  ])
})

t.test('examples name the address of this service', async (t) => {
  const { url } = await installation()
  t.notMatch(url, /localhost:8080$/)
  let examples = 0
  for (const path of await allPages()) {
    const text = await read(path)
    t.notMatch(text, /localhost:8080/, path)
    examples += text.split(`${url}/v1/`).length - 1
  }
  t.ok(examples > 20, `${examples} examples`)
})
