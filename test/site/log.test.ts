/** The log explorer at `/log`: what it shows, what it proves without scripts, and what it says to bad input. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { type Client, sharedInstallation } from '../support/installation.ts'

const execute = promisify(execFile)
const SIZE = 47
const PAGE = 20

const installation = sharedInstallation()

async function ask(path: string) {
  const response = await fetch((await installation()).url + path, { redirect: 'manual' })
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}

async function api(path: string) {
  return (await (await installation()).request(path)).body
}

/** The rows of entries, as they are shown. */
function entriesIn(html: string): number[] {
  return [...html.matchAll(/<a href="\/log\/(\d+)">\1<\/a>/g)].map(([, index]) => Number(index))
}

function codeIn(html: string, label: string): string {
  const [, code = ''] = new RegExp(`aria-label="${label}"[^>]*><pre><code>(.*?)</code>`, 's').exec(html) ?? []
  return code.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

t.test('an empty log is told as that', async (t) => {
  const { status, text, headers } = await ask('/log')
  t.equal(status, 200)
  t.match(headers, { 'content-security-policy': /^default-src 'none'/, 'cache-control': 'public, max-age=5' })
  t.match(text, 'The log has 0 entries')
  t.match(text, 'There are no entries yet.')
  t.match(await ask('/log/0'), { status: 404, text: /The log has no entries yet\./ })
  t.match(await ask('/log/proof?leaf=0'), {
    status: 404,
    text: /The log has no entries yet: there is nothing to prove\./,
  })
})

t.test('a log of some entries', async (t) => {
  const client: Client = await (await installation()).client('log')
  const submitted = await Promise.all(Array.from({ length: SIZE }, () => client.submit()))
  // Of many claims at once a busy machine leaves some for the recheck worker.
  const decided = await Promise.all(submitted.map(({ body }) => client.decided(body.claim_id)))
  const receiptIds = decided.map(({ receipt_id }) => receipt_id as string)
  const { tree_head } = await api('/v1/log/head')
  t.equal(tree_head.body.tree_size, SIZE)

  t.test('shows its head, its growth and its newest entries, and no receipt', async (t) => {
    const { text } = await ask('/log')
    t.match(text, `The log has ${SIZE} entries`)
    for (const value of [tree_head.body.root_hash, tree_head.signature.key_id, tree_head.body.log_id])
      t.ok(text.includes(value), value)
    t.match(text, `${SIZE} entries in the last 30 days`)
    t.match(text, 'No anchor of this log has landed yet.')
    t.strictSame(
      entriesIn(text),
      Array.from({ length: PAGE }, (_, index) => SIZE - 1 - index),
    )
    t.notMatch(text, /rcpt_|clm_/)
    for (const id of receiptIds) t.notOk(text.includes(id))
  })

  t.test('pages lead through every entry and back', async (t) => {
    const seen: number[] = []
    let path = '/log'
    for (;;) {
      const { text } = await ask(path)
      seen.push(...entriesIn(text))
      const [, older] = /href="([^"#]+)#entries">Older entries/.exec(text) ?? []
      if (older === undefined) break
      path = older
    }
    t.strictSame(
      seen,
      Array.from({ length: SIZE }, (_, index) => SIZE - 1 - index),
    )
    const [, newer] = /href="([^"#]+)#entries">Newer entries/.exec((await ask(path)).text)!
    t.ok(Math.max(...entriesIn((await ask(newer!)).text)) > Math.max(...entriesIn((await ask(path)).text)))
  })

  t.test('an entry has a page with its hash and its proof', async (t) => {
    const { entries } = await api('/v1/log/entries?start=7&limit=1')
    const { status, text } = await ask('/log/7')
    t.equal(status, 200)
    t.ok(text.includes(entries[0].leaf_hash))
    t.match(text, '<a href="/log/6">')
    t.match(text, '<a href="/log/8">')
    t.strictSame(JSON.parse(codeIn(text, 'The proof')), await api(`/v1/log/proof?leaf_index=7&tree_size=${SIZE}`))
    t.notMatch((await ask('/log/0')).text, 'Entry -1')
    t.notMatch((await ask(`/log/${SIZE - 1}`)).text, `/log/${SIZE}"`)
  })

  t.test('proofs without scripts: the document, and commands that check it', async (t) => {
    const { entries } = await api('/v1/log/entries?start=5&limit=1')
    const byHash = await ask(`/log/proof?leaf=${entries[0].leaf_hash}&size=30`)
    const rows: [html: string, document: string][] = [
      [(await ask('/log/proof?leaf=5&size=30')).text, '/v1/log/proof?leaf_index=5&tree_size=30'],
      [byHash.text, '/v1/log/proof?leaf_index=5&tree_size=30'],
      [(await ask('/log/proof?leaf=+5+&size=')).text, `/v1/log/proof?leaf_index=5&tree_size=${SIZE}`],
      [(await ask('/log/proof?first=3&second=30')).text, '/v1/log/consistency?first=3&second=30'],
      [(await ask('/log/proof?first=3&second=')).text, `/v1/log/consistency?first=3&second=${SIZE}`],
      [(await ask('/log/proof?first=9&second=9')).text, '/v1/log/consistency?first=9&second=9'],
    ]
    for (const [html, path] of rows) t.strictSame(JSON.parse(codeIn(html, 'The proof')), await api(path), path)

    const [curls, checks] = [/^curl .*$/gm, /^\.\/claimcheck (.*)$/gm].map((form) => [
      ...codeIn(rows[0]![0], 'The commands').matchAll(form),
    ])
    const folder = t.testdir()
    await writeFile(join(folder, 'fetch.sh'), curls!.map(([line]) => line).join('\n'))
    await execute('bash', ['-e', 'fetch.sh'], { cwd: folder })
    const outcomes = await Promise.all(checks!.map(([, words]) => runClaimcheck(folder, words!.split(' '))))
    t.match(outcomes, [
      { code: 0, stdout: /^Valid tree head/ },
      { code: 2, stdout: /^Holds, and nothing signs it: leaf 5/ },
    ])
  })

  const refused: [path: string, status: number, words: RegExp][] = [
    [`/log/proof?leaf=${SIZE}`, 404, /The log has no entry 47\. Its entries are 0 to 46\./],
    ['/log/proof?leaf=9007199254740992', 400, /Write the number of the entry, such as 0, or its leaf hash/],
    ['/log/proof?leaf=-1', 400, /Write the number of the entry/],
    ['/log/proof?leaf=', 400, /Write the number of the entry/],
    ['/log/proof?leaf=%3Cscript%3E', 400, /Write the number of the entry/],
    [`/log/proof?leaf=${'A'.repeat(43)}`, 404, /No entry of the log has this leaf hash/],
    ['/log/proof?leaf=5&size=5', 400, /A tree of size 5 has no entry 5\. Take a size above 5, up to 47\./],
    ['/log/proof?leaf=5&size=48', 404, /The log has 47 entries\. The size cannot be 48\./],
    ['/log/proof?leaf=5&size=1.5', 400, /The size of the tree is a whole number/],
    ['/log/proof?first=9&second=3', 400, /The first size, 9, is above the second, 3\. Exchange them\./],
    ['/log/proof?first=0&second=3', 400, /The first size must be at least 1/],
    ['/log/proof?first=x&second=3', 400, /The first size is a whole number/],
    ['/log/proof?first=&second=3', 400, /Write the first size/],
    ['/log/proof?first=3&second=48', 404, /The log has 47 entries\. The second size cannot be 48\./],
    [`/log/${SIZE}`, 404, /The log has no such entry\. Its entries are 0 to 46\./],
    ['/log/x', 404, /The log has no such entry/],
    ['/log/1e1', 404, /The log has no such entry/],
    ['/log?before=x', 400, /Before must be a whole number\./],
    ['/log?before=1000', 404, /Start is beyond the log/],
    ['/log?anchors=-1', 400, /Anchors must be a whole number\./],
  ]
  for (const [path, status, words] of refused) {
    t.test(`${path} is refused in words`, async (t) => {
      const answer = await ask(path)
      t.match(answer, { status, headers: { 'content-type': /^text\/html/, 'cache-control': 'no-store' }, text: words })
      t.notMatch(answer.text, '<script>')
      const field = /proof\?(leaf|first)=/.exec(path)?.[1]
      if (field !== undefined) t.match(answer.text, `<input id="proof-${field}" autofocus`, 'has the focus')
    })
  }

  t.test('a form without anything in it leads back to the log', async (t) => {
    t.match(await ask('/log/proof'), { status: 302, headers: { location: '/log#proofs' } })
    t.equal((await ask('/log?before=0')).status, 200)
  })
})
