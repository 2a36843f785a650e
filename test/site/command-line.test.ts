/** Which command line pages offer: no page names a package that anyone could register, until the operator names one. */
import { readFileSync } from 'node:fs'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { type ClaimsConsole, claimsConsole } from '../support/claims-console.ts'
import { textOf } from '../support/visitor.ts'

const PACKAGE = '@example/claimcheck-cli@1.0.0'
/** What runs a package from a registry: npx, but not one that is held to what is installed, and what is like it. */
const FETCHES =
  /\bnpx (?!--no-install )\S+|"npx"|\bnpm (?:exec|create|init|x) \S+|\b(?:pnpm dlx|yarn dlx|bunx|uvx|pipx run) \S+/g

/** A text of each page that offers a command, and of every page of the documentation. */
async function pagesOf({ installation, owner, client, workspaceId, path }: ClaimsConsole) {
  const { body } = await client.submit({})
  const { receipt_id } = await client.decided(body.claim_id)
  const docs = await owner.get('/docs')
  const [, menu = ''] = /<nav aria-label="Documentation">(.*?)<\/nav>/s.exec(docs.html) ?? []
  const paths = [
    ...[`/r/${receipt_id}`, '/log', '/log/0', '/log/proof?leaf=0', '/check.html'],
    ...['/console/sign-in', '/console/forgotten', path, `${path}/new`, `${path}/${body.claim_id}`],
    ...['audit-trail', 'developers', 'connections', 'members'].map((page) => `/console/w/${workspaceId}/${page}`),
    ...[...menu.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!),
  ]
  const pages = new Map<string, string>()
  for (const path of paths) pages.set(path, textOf((await owner.get(path)).html))
  return { pages, receipt: `${installation.url}/v1/receipts/${receipt_id}`, receiptPage: `/r/${receipt_id}` }
}

const trail = ({ workspaceId }: ClaimsConsole) => `/console/w/${workspaceId}/audit-trail`

t.test(
  'without a package of the operator, pages offer the command line of a checkout and the offline checker',
  async (t) => {
    const console = await claimsConsole(t)
    const { pages, receipt, receiptPage } = await pagesOf(console)
    t.ok(pages.size > 40, `${pages.size} pages`)
    for (const [path, text] of pages) t.strictSame(text.match(FETCHES) ?? [], [], path)
    t.match(pages.get(receiptPage), `in a checkout of Claimcheck: ./claimcheck verify ${receipt}`)
    t.match(pages.get(receiptPage), 'Download the offline checker')
    t.match(pages.get('/log/0'), './claimcheck verify proof.json')
    t.match(pages.get(trail(console)), './claimcheck audit-trail --check FILE')
    t.match(pages.get('/docs/mcp'), '"args": ["/path/to/core/cli/bin/claimcheck-cli.js", "mcp"]')
  },
)

t.test('a package that the operator names appears wherever a command is offered to everyone', async (t) => {
  const console = await claimsConsole(t, { file: { verifier_package: PACKAGE } })
  const { pages, receipt, receiptPage } = await pagesOf(console)
  const of = (command: string) => `npx ${PACKAGE} ${command}`
  t.match(pages.get(receiptPage), `with Node.js: ${of(`verify ${receipt}`)}`)
  t.match(pages.get('/log/0'), of('verify proof.json'))
  t.match(pages.get(trail(console)), of('audit-trail --check FILE'))
  t.match([...pages].find(([path]) => path.includes('/claims/clm_'))?.[1], of(`verify ${receipt}`))
  t.match(pages.get('/docs/mcp'), `"command": "npx", "args": ["--yes", "${PACKAGE}", "mcp"]`)
  t.match(pages.get('/docs/checking-a-receipt'), of('verify receipt.json'))
  t.match(pages.get('/docs/command-line'), of('claim push'))
  t.match(pages.get('/docs/keys'), './claimcheck key create', 'what the operator does is done where the service is')
  for (const [path, text] of pages) {
    const named = (text.match(FETCHES) ?? []).filter((words) => words !== '"npx"')
    t.strictSame(
      [...new Set(named)].filter((words) => words !== `npx ${PACKAGE}`),
      [],
      path,
    )
    t.notMatch(text, './claimcheck verify', path)
  }
})

t.test('an erased receipt has a page that offers the same', async (t) => {
  const { installation, owner, client } = await claimsConsole(t, { file: { verifier_package: PACKAGE } })
  const { body } = await client.submit({})
  const { receipt_id } = await client.decided(body.claim_id)
  await installation.claimcheck.erasure.erase(receipt_id, { rule: 'court_order', reference: '1' }, byCommand())
  t.match(textOf((await owner.get(`/r/${receipt_id}`)).html), `npx ${PACKAGE} verify`)
})

t.test('the documentation of the repository names no package to fetch', async (t) => {
  for (const file of [
    'README.md',
    'core/README.md',
    'core/client/README.md',
    'core/python/README.md',
    'plugins/README.md',
  ]) {
    t.strictSame(readFileSync(file, 'utf8').match(FETCHES) ?? [], [], file)
  }
})

t.test('what could fetch a package is found', async (t) => {
  const found = ['npx claimcheck verify', 'npx --yes a', '"command": "npx"', 'npm create @a/b', 'npm exec a', 'uvx a']
  for (const text of found) t.equal(text.match(FETCHES)?.length, 1, text)
  t.equal('npx --no-install claimcheck verify, npm install ./a.tgz'.match(FETCHES), null)
})
