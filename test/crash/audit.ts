/** What must be true at the end, compared with every answer that was given. All of it is read over HTTP. */
import { setTimeout } from 'node:timers/promises'
import type { ClaimList, ClaimStatus, EventList, LogEntries, LogHead } from '@claimcheck/core/api'
import { type ConsistencyDocument, checkConsistency, checkTreeHead } from '@claimcheck/core/log'
import { checkReceipt, type KeySet, parseKeySet, type Receipt } from '@claimcheck/core/receipts'
import type { Fleet } from './fleet.ts'
import type { Ledger } from './ledger.ts'

export interface Audit {
  /** In the database, acknowledged or not. */
  readonly claims: number
  readonly receipts: number
  readonly heads: number
}

// The longest deadline, the grace after it, and the lease of a host that died while it checked.
const LAST_DECISION_MS = 40_000
const AT_A_TIME = 8

/** To be called when every host is up and no more claims are submitted. Contradictions go to the ledger's problems. */
export async function audit(fleet: Fleet, ledger: Ledger): Promise<Audit> {
  const complain = (problem: string) => ledger.problems.add(problem)
  let asked = 0

  /** From each host in turn. */
  async function get<T>(path: string): Promise<T> {
    return JSON.parse(await getText(path))
  }
  async function getText(path: string): Promise<string> {
    const headers = { accept: 'application/json' }
    const answer = await fleet.request(fleet.hosts[asked++ % fleet.hosts.length]!, path, { headers })
    if (answer?.status === 200) return answer.text
    throw new Error(`GET ${path}: ${answer ? `${answer.status} ${answer.text}` : 'no answer'}`)
  }

  async function untilDecided(): Promise<void> {
    const end = Date.now() + LAST_DECISION_MS
    for (;;) {
      const { claims } = await get<ClaimList>('/v1/claims?state=queued&limit=5')
      if (claims.length === 0) return
      if (Date.now() > end) {
        for (const claim of claims) complain(`${claim.client_claim_id}: still queued: ${JSON.stringify(claim)}`)
        return
      }
      await setTimeout(200)
    }
  }

  async function allClaims(): Promise<ClaimStatus[]> {
    const claims: ClaimStatus[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: ClaimList = await get(`/v1/claims?limit=200${cursor && `&cursor=${cursor}`}`)
      claims.push(...page.claims)
      cursor = page.next_cursor
    }
    return claims
  }

  /** Each claim is as the answers said, and no acknowledged claim is missing. */
  function checkClaims(claims: readonly ClaimStatus[]): void {
    const ids = new Set(claims.map(({ claim_id }) => claim_id))
    if (ids.size !== claims.length) complain('a claim is listed twice')
    for (const { claim, claimId } of ledger.acknowledged) {
      if (!ids.has(claimId!)) complain(`${claim.client_claim_id}: acknowledged as ${claimId}, and lost`)
    }
    for (const status of claims) {
      const known = ledger.claims.get(status.client_claim_id)
      if (known) ledger.status(known)(status)
      else complain(`${status.client_claim_id}: was never submitted`)
    }
  }

  async function checkEntries(treeSize: number): Promise<void> {
    let index = 0
    for (let next: number | null = 0; next !== null; ) {
      const page: LogEntries = await get(`/v1/log/entries?start=${next}&limit=100`)
      for (const { leaf_index } of page.entries) {
        if (leaf_index !== index++) complain(`log: leaf ${leaf_index} stands where ${index - 1} should`)
      }
      next = page.next
    }
    if (index !== treeSize) complain(`log: ${index} entries in a tree of ${treeSize}`)
  }

  /** Each claim has one valid receipt, and the receipts are exactly the leaves of the log. */
  async function checkReceipts(claims: readonly ClaimStatus[], head: LogHead, keys: KeySet): Promise<void> {
    const { tree_size: treeSize, root_hash: rootHash } = head.tree_head.body
    const leaves = new Set<number>()
    await forEach(claims, async ({ client_claim_id, receipt_id }) => {
      if (receipt_id === null) return
      const text = await getText(`/v1/receipts/${receipt_id}`)
      const report = await checkReceipt(text, { keys })
      const { body, proof }: Receipt = JSON.parse(text)
      if (!report.valid || report.checks.inclusion !== true || body.receipt_id !== receipt_id)
        complain(`${receipt_id}: does not hold: ${JSON.stringify(report.checks)}`)
      if (body.claim.client_claim_id !== client_claim_id)
        complain(`${receipt_id}: is about ${body.claim.client_claim_id}, not ${client_claim_id}`)
      if (proof?.tree_size !== treeSize || proof.root_hash !== rootHash) complain(`${receipt_id}: proves another tree`)
      if (proof) leaves.add(proof.leaf_index)
    })
    if (leaves.size !== claims.length) complain(`log: ${claims.length} claims have ${leaves.size} leaves`)
    if (treeSize !== claims.length) complain(`log: ${treeSize} leaves for ${claims.length} claims`)
  }

  /** Each claim has one event of its decision, and the numbers leave out none. */
  async function checkEvents(claims: readonly ClaimStatus[]): Promise<void> {
    const told: string[] = []
    let number = 0
    for (let page: EventList; ; ) {
      page = await get(`/v1/events?after=${number}&limit=200`)
      if (page.events.length === 0) break
      if (page.gap) complain(`events: ${page.gap.from} to ${page.gap.to} are missing`)
      for (const { id, type, data } of page.events) {
        if (Number(id) !== ++number) complain(`events: ${id} stands where ${number} should`)
        if (type === 'claim.decided') told.push(data.claim_id)
      }
    }
    const once = new Set(told)
    if (told.length !== claims.length || claims.some(({ claim_id }) => !once.has(claim_id)))
      complain(`events: ${told.length} decisions are told of ${claims.length} claims`)
  }

  /** There is one tree for each size, and each is the beginning of the next one. */
  async function checkHeads(keys: KeySet): Promise<void> {
    for (const { text, treeSize } of ledger.heads) {
      if (!checkTreeHead(text, keys).valid) complain(`head ${treeSize}: the signature does not hold`)
    }
    const heads = ledger.heads.sort((a, b) => a.treeSize - b.treeSize).filter(({ treeSize }) => treeSize > 0)
    await forEach(heads.slice(1), async (head, index) => {
      const before = heads[index]!
      const text = await getText(`/v1/log/consistency?first=${before.treeSize}&second=${head.treeSize}`)
      const proof: ConsistencyDocument = JSON.parse(text)
      const isOfThese = proof.first_root === before.rootHash && proof.second_root === head.rootHash
      if (!isOfThese || !checkConsistency(text).valid)
        complain(`head ${before.treeSize}: is not the beginning of head ${head.treeSize}`)
    })
  }

  await untilDecided()
  const claims = await allClaims()
  const head = await get<LogHead>('/v1/log/head')
  ledger.head()(head)
  const keys = parseKeySet(await getText('/.well-known/poaw-keys.json'))
  checkClaims(claims)
  await checkEntries(head.tree_head.body.tree_size)
  await checkReceipts(claims, head, keys)
  await checkHeads(keys)
  await checkEvents(claims)
  for (const problem of await fleet.doctor()) complain(`doctor: ${problem}`)
  return { claims: claims.length, receipts: head.tree_head.body.tree_size, heads: ledger.heads.length }
}

async function forEach<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      await work(items[index]!, index)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}
