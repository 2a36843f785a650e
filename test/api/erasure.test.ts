// Test run: slow, both-databases
/**
 * A receipt whose content was erased: what everybody is told, what still holds, and that it stays so on every host.
 * Threat O9 of `security.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyInclusion } from '@claimcheck/core/log'
import { checkReceipt, fromBase64url, parseKeySet } from '@claimcheck/core/receipts'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { runClaimcheck } from '../support/command.ts'
import type { Host } from '../support/host.ts'
import { Installation } from '../support/installation.ts'
import { dump, query } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const SECOND_HOST = { DATA_DIR: 'data-2' }
const NAME = 'jane.doe-branch'
const RULE = ['--rule', 'court_order', '--reference', '12 O 345/26', '--yes']
const BECAUSE = 'because of a court’s order (12 O 345/26)'
const COURT = { rule: 'court_order', reference: '12 O 345/26' } as const
const BROWSER = { headers: { accept: 'text/html,*/*;q=0.8' } }

const installation = await Installation.start()
afterFile(() => installation.remove())
// One host has a SQLite file to itself.
const hosts: readonly Host[] =
  installation.database.dialect === 'postgres'
    ? [installation.host, await installation.addHost(SECOND_HOST)]
    : [installation.host]
const client = await installation.client('acme')
const get = (path: string, init?: RequestInit) => installation.request(path, init)
const run = (...args: string[]) => runClaimcheck(installation.folder, args, installation.env)

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'))
afterFile(() => rmSync(folder, { recursive: true }))

/** A claim that names somebody, decided. */
async function named(over: object = {}) {
  const claim = {
    client_claim_id: `${NAME}-${Math.random()}`,
    agent_id: `${NAME}'s agent`,
    target: `${NAME}/repo`,
    params: { see: 'present', content: NAME },
    claimed_at: new Date().toISOString(),
    ...over,
  }
  const { body } = await client.submit(claim)
  const { receipt_id: receiptId, claim_id: claimId } = await client.decided(body.claim_id)
  return { claim, receiptId: receiptId as string, claimId: claimId as string }
}

t.test('an erased receipt says so wherever it was, and what was kept of it before still verifies', async (t) => {
  const { claim, receiptId, claimId } = await named()
  await client.submit()
  const path = `/v1/receipts/${receiptId}`
  const kept = (await get(path)).body
  const keys = (await get('/.well-known/poaw-keys.json')).body
  const { leaf_index } = kept.proof
  const entry = async () => (await get(`/v1/log/entries?start=${leaf_index}&limit=1`)).body.entries[0]
  const before = await entry()
  for (const { claimcheck } of hosts) t.match(await claimcheck.receipts.get(receiptId), NAME)

  const erased = await run('receipt', 'erase', receiptId, ...RULE)
  t.equal(erased.code, 0, erased.stderr)
  t.match(erased.stdout, `The content of ${receiptId} is erased, ${BECAUSE}.`)
  t.match(erased.stdout, `Entry ${leaf_index} of the log stays`)

  const left = {
    ...COURT,
    receipt_id: receiptId,
    leaf_index,
    leaf_hash: before.leaf_hash,
    issued_at: before.created_at,
  }
  for (const host of hosts) {
    for (const place of [path, `${path}/evidence`, `/r/${receiptId}.json`]) {
      const { status, body } = await host.request(place, { headers: { accept: 'application/json' } })
      t.equal(status, 410, place)
      t.match(body, { erased: left }, place)
      t.match(body.detail, BECAUSE)
      t.notMatch(JSON.stringify(body), NAME)
    }
    const page = await host.request(`/r/${receiptId}`, BROWSER)
    t.equal(page.status, 410)
    t.match(
      textOf(page.body),
      new RegExp(`Erased The content of this receipt was erased On .*, ${BECAUSE.replace(/[()/]/g, '.')}`),
    )
    t.match(page.body, `href="/log/${leaf_index}"`)
    t.match(page.body, before.leaf_hash)
    t.notMatch(page.body, NAME)
    const badge = await host.request(`/r/${receiptId}.svg`)
    t.equal(badge.status, 200)
    t.match(badge.body, 'claimcheck: erased')
    t.match((await host.request(`/r/${receiptId}.icon.svg`)).body, '<svg')
  }

  t.strictSame(await entry(), before, 'the log is as it was')
  const proof = (await get(`/v1/log/proof?leaf_index=${leaf_index}`)).body
  t.equal(proof.leaf_hash, before.leaf_hash)
  const bytes = (text: string) => fromBase64url(text, 32)!
  const { tree_size, root_hash, inclusion } = proof
  const proven = { leafIndex: leaf_index, treeSize: tree_size, path: inclusion.map(bytes) }
  t.ok(verifyInclusion({ ...proven, leafHash: bytes(before.leaf_hash), rootHash: bytes(root_hash) }))
  t.match(await checkReceipt(JSON.stringify(kept), { keys: parseKeySet(JSON.stringify(keys)) }), { valid: true })
  const file = join(folder, 'kept.json')
  writeFileSync(file, JSON.stringify(kept))
  const verified = await run('verify', file, '--keys', `${installation.url}/.well-known/poaw-keys.json`, '--json')
  t.equal(verified.code, 0, verified.stdout)

  const there = await run('verify', `${installation.url}${path}`)
  t.equal(there.code, 2)
  t.match(there.stderr, BECAUSE)

  t.notMatch(await dump(installation.config.databaseUrl), NAME, 'no row has it')
  t.match(await run('doctor'), { code: 0 })
  for (const signatures of [[], ['--signatures']]) {
    const { stdout } = await run('doctor', '--json', ...signatures)
    t.match(JSON.parse(stdout), { ok: true, problems: [] })
  }

  const again = await client.submit(claim)
  t.equal(again.status, 202)
  const told = { claim_id: claimId, state: 'decided', receipt_id: receiptId, verdict: 'verified', erased: COURT }
  const texts = { client_claim_id: '', agent_id: '', target: '', claim_digest: '', last_check: null }
  t.match(again.body, { ...told, ...texts, created: false }, 'the claim that is submitted again gets no second receipt')
  const all = await Promise.all(Array.from({ length: 5 }, () => client.submit({ ...claim, target: 'other' })))
  for (const { body } of all) t.match(body, { claim_id: claimId, created: false })
  t.match((await client.get(`/v1/claims/${claimId}`)).body, { ...told, ...texts })
  const listed = (await client.get('/v1/claims')).body.claims
  t.match(
    listed.find(({ claim_id }: { claim_id: string }) => claim_id === claimId),
    { ...told, ...texts },
  )
  t.notMatch(JSON.stringify(listed), NAME)
})

t.test('an erasure is repeated without harm, listed, and told to the audit trail', async (t) => {
  const { receiptId, claimId } = await named()
  const first = JSON.parse((await run('receipt', 'erase', claimId, ...RULE, '--json')).stdout)
  t.match(first, { receipt_id: receiptId, ...COURT, was_erased_before: false, files_cleared: true })
  t.strictSame(JSON.parse((await run('receipt', 'rewrite-files', '--json')).stdout), { files_cleared: true })
  const again = await run('receipt', 'erase', receiptId, '--rule', 'secret', '--json')
  t.match(JSON.parse(again.stdout), { ...first, was_erased_before: true }, 'the first rule stays, and nothing is asked')
  const listed = JSON.parse((await run('receipt', 'erased', '--json')).stdout)
  t.match(listed[0], { receipt_id: receiptId, ...COURT })
  t.match((await run('receipt', 'erased')).stdout, `${receiptId}  `)
  const { read } = installation.claimcheck.storage
  const entries = (await read.audit.after(0, 1000)).filter(({ subject }) => subject === receiptId)
  const { workspaceId } = client
  t.match(entries, [{ event: 'receipt.erased', workspaceId, actorKind: 'command', details: COURT }])
  t.equal(entries.length, 1)
})

t.test('what says the same is named, and one erasure touches none of it', async (t) => {
  const same = { target: 'same', params: { see: 'present', content: 'as well' } }
  const [one, other] = [await named(same), await named(same)]
  const { stdout } = await run('receipt', 'erase', one.receiptId, ...RULE, '--json')
  t.strictSame(JSON.parse(stdout).same_outcome, [other.receiptId])
  t.equal((await get(`/v1/receipts/${other.receiptId}`)).status, 200)
})

t.test('what cannot be erased is refused, and says what to do', async (t) => {
  const { body: queued } = await client.submit({ params: { see: 'unavailable' } })
  const { receiptId } = await named()
  const rows: [args: string[], told: RegExp][] = [
    [[queued.claim_id, ...RULE], new RegExp(`not decided yet.*wait until its deadline, ${queued.deadline_at}`)],
    [['rcpt_none', ...RULE], /there is no receipt rcpt_none/],
    [[receiptId, '--rule', 'whim', '--yes'], /whim is no rule.*court_order, authority_order/],
    [[receiptId, '--rule', 'retention', '--yes'], /retention is no rule/],
    [[receiptId, '--rule', 'secret', '--yes', '--reference', 'a\nb'], /reference is not valid/],
    [[receiptId, '--rule', 'secret', '--yes', '--reference', 'x'.repeat(201)], /reference is not valid/],
    [[receiptId, '--rule', 'secret'], /Nothing was done\. Add --yes/],
    [[receiptId], /required option '--rule/],
  ]
  for (const [args, told] of rows) {
    const { code, stderr } = await run('receipt', 'erase', ...args)
    t.not(code, 0, args.join(' '))
    t.match(stderr, told, args.join(' '))
  }
  t.match(await run('receipt', 'erase', receiptId, '--rule', 'secret'), { stderr: new RegExp(`target  ${NAME}/repo`) })
  t.equal((await get(`/v1/receipts/${receiptId}`)).status, 200)
})

t.test('the console shows an erased claim as erased: its page, the list, the search and the exports', async (t) => {
  const { host } = installation
  const owner = await Visitor.joining(host, client.workspaceId, 'owner', 'Olga')
  const { claim, receiptId, claimId } = await named()
  const { erasure } = installation.claimcheck
  const list = `/console/w/${client.workspaceId}/claims`
  t.match((await owner.get(list)).html, NAME)
  await erasure.erase(receiptId, COURT, byCommand())
  const page = await owner.get(`${list}/${claimId}`)
  t.equal(page.status, 200)
  t.match(
    textOf(page.html),
    new RegExp(`The content of this claim was erased.*verified Erased .*, ${BECAUSE.replace(/[()/]/g, '.')}`),
  )
  t.match(page.html, `href="/r/${receiptId}"`)
  t.notMatch(page.html, NAME)
  for (const search of [claimId, receiptId]) {
    const found = await owner.get(`${list}?q=${search}`)
    t.match(textOf(found.html), /verified Erased –/)
  }
  t.match(textOf((await owner.get(`${list}?q=${claim.client_claim_id}`)).html), /No claim matches/)
  const agents = await owner.get(`/console/w/${client.workspaceId}/agents`)
  t.notMatch(agents.html, 'href="/console/w/ws_/agents/"')
  t.equal((await owner.get(`/console/w/${client.workspaceId}/agents/`)).status, 404)
  const exported = (format: string) => owner.post(`${list}/export`, { format, q: claimId })
  t.match((await exported('csv')).html, new RegExp(`${claimId},,,test\\.outcome\\.reach,,{},.*a court’s order`))
  const json = JSON.parse((await exported('json')).html)
  t.match(json.claims, [{ claim_id: claimId, client_claim_id: null, erased_because_of: /court/, agent_id: '' }])
  t.notMatch(JSON.stringify(json), NAME)
})

t.test(
  'a receipt without content that nobody erased is an error of its own, and not one of those beside it',
  async (t) => {
    const [{ receiptId: damaged }, { receiptId: whole }] = [await named(), await named()]
    const { receipts, config } = installation.claimcheck
    const isShared = installation.database.dialect === 'postgres'
    await query(
      config.databaseUrl,
      isShared ? 'ALTER TABLE receipts DISABLE TRIGGER USER' : 'DROP TRIGGER receipts_no_update',
    )
    await query(config.databaseUrl, `UPDATE receipts SET entry = '' WHERE receipt_id = '${damaged}'`)
    const [broken, sound] = await Promise.allSettled([receipts.get(damaged), receipts.get(whole)])
    t.match(broken, { status: 'rejected', reason: { message: /no erasure says why/ } })
    t.match(sound, { status: 'fulfilled' })
    t.equal((await get(`/v1/receipts/${damaged}`)).status, 500)
    const { problems } = JSON.parse((await run('doctor', '--json')).stdout)
    t.match(problems, [new RegExp(`${damaged}.*its content is missing, and no erasure says why`)])
  },
)
