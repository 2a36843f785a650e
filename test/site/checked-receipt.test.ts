/** What a page, a badge and a bundle show of a receipt was checked as it is served, also when it was looked at before. Threat S3 of `security.md`. */
import { type Bundle, checkBundle, type Receipt } from '@claimcheck/core/receipts'
import { readBundle } from '@claimcheck/core/words/document'
import { badgeOf } from '@claimcheck/server/features/site/receipt/badge'
import { viewOf } from '@claimcheck/server/web/receipt-view/view'
import t, { type Test } from 'tap'
import { Installation } from '../support/installation.ts'
import { query } from '../support/sql.ts'

const DROP = { sqlite: 'DROP TRIGGER tree_heads_no_update', postgres: 'ALTER TABLE tree_heads DISABLE TRIGGER USER' }

async function start(t: Test) {
  const installation = await Installation.during(t, {
    file: { sources: { test: [{ url: 'https://example.com', plugins: ['scripted'] }] } },
  })
  const client = await installation.client('acme')
  const decide = async () => (await client.decided((await client.submit()).body.claim_id)).receipt_id as string
  const { databaseUrl } = installation.claimcheck.config
  const look = async (id: string) => {
    const text = async (path: string) => (await fetch(installation.url + path)).text()
    const bundle = readBundle(await text(`/r/${id}.json`))!
    return { bundle, badge: await text(`/r/${id}.svg`), page: await text(`/r/${id}`) }
  }
  return { decide, look, change: (sql: string) => query(databaseUrl, sql), dialect: installation.database.dialect }
}

async function toneOf(bundle: Bundle) {
  return viewOf(bundle, await checkBundle(bundle, { fromIssuer: true }))!.tone
}

t.test('a head that nobody signed is on no page that says otherwise', async (t) => {
  const { decide, look, change, dialect } = await start(t)
  const [seen, unseen] = [await decide(), await decide()]
  t.equal((await look(seen)).badge, badgeOf('verified'))
  await decide()
  await change(DROP[dialect])
  await change(`UPDATE tree_heads SET signed = replace(signed, '"issued_at":"2', '"issued_at":"1')`)
  const other = await look(unseen)
  t.equal(await toneOf(other.bundle), 'doubtful', 'the head that the log has now')
  t.equal(other.badge, badgeOf('doubtful'))
  const { bundle, badge, page } = await look(seen)
  t.equal(badge, badgeOf(await toneOf(bundle)), 'the badge says what the documents say that it is of')
  const [rootHash] = /(?<="root_hash":")[\w-]+/.exec(bundle.tree_head!)!
  t.ok(page.includes(rootHash), 'and so does the page')
})

t.test('a key that is revoked shows at once', async (t) => {
  const { decide, look, change } = await start(t)
  const id = await decide()
  const { badge, bundle } = await look(id)
  t.equal(badge, badgeOf('verified'))
  const { signature } = JSON.parse(bundle.receipt) as Receipt
  await change(`UPDATE signing_keys SET revoked_at = valid_from WHERE key_id = '${signature.key_id}'`)
  const after = await look(id)
  t.equal(after.badge, badgeOf('doubtful'))
  t.match(after.page, 'tone-doubtful')
  t.equal(await toneOf(after.bundle), 'doubtful')
})
