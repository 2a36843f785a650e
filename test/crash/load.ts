/** Agents that submit claims and look after them, whatever happens to the hosts. */
import { setTimeout } from 'node:timers/promises'
import { anyClaim } from './claims.ts'
import type { Fleet } from './fleet.ts'
import type { HostProcess } from './host-process.ts'
import type { KnownClaim, Ledger } from './ledger.ts'
import type { Random } from './random.ts'

export interface Load {
  /** Resolves when every agent has ended what it was at. */
  stop(): Promise<void>
}

const MOST_TWINS = 5
const PAUSE_AFTER_NOTHING_MS = 100

export function startLoad(fleet: Fleet, ledger: Ledger, random: Random, agents: number, prefix = 'claim'): Load {
  let stopping = false
  const anyHost = (): HostProcess => random.pick(fleet.hosts)

  async function get(path: string): Promise<string | undefined> {
    return ledger.accept(200, `GET ${path}`, await fleet.request(anyHost(), path))
  }

  /** As a client does: again with the same client_claim_id until there is an answer. */
  async function submit(known: KnownClaim): Promise<void> {
    const once = () => ledger.submission(known, fleet.submit(anyHost(), known.claim))
    while (!(await once()) && !stopping) await setTimeout(PAUSE_AFTER_NOTHING_MS)
  }

  function anyAcknowledged(): KnownClaim | undefined {
    const { acknowledged } = ledger
    return acknowledged.length > 0 ? random.pick(acknowledged) : undefined
  }

  const submitNew = () => submit(newClaim())
  const newClaim = () => ledger.plan(anyClaim(`${prefix}-${ledger.claims.size}`, random))

  async function submitTwins(): Promise<void> {
    const known = newClaim()
    await Promise.all(Array.from({ length: random.between(2, MOST_TWINS) }, () => submit(known)))
  }

  async function submitAgain(): Promise<void> {
    const known = anyAcknowledged()
    if (known) await submit(known)
  }

  async function readStatus(): Promise<void> {
    const known = anyAcknowledged()
    if (!known) return
    const record = ledger.status(known)
    const text = await get(`/v1/claims/${known.claimId}`)
    if (text !== undefined) record(JSON.parse(text))
  }

  async function readReceipt(): Promise<void> {
    const receiptId = anyAcknowledged()?.receiptId
    if (receiptId) await get(`/v1/receipts/${receiptId}`)
  }

  async function readHead(): Promise<void> {
    const record = ledger.head()
    const text = await get('/v1/log/head')
    if (text !== undefined) record(JSON.parse(text))
  }

  async function readLists(): Promise<void> {
    await get('/v1/claims?limit=20')
    await get('/v1/log/entries')
  }

  const tasks: readonly [weight: number, task: () => Promise<void>][] = [
    [10, submitNew],
    [2, submitTwins],
    [2, submitAgain],
    [3, readStatus],
    [3, readReceipt],
    [3, readHead],
    [1, readLists],
  ]
  const hat = tasks.flatMap(([weight, task]) => Array.from({ length: weight }, () => task))

  async function live(): Promise<void> {
    while (!stopping) {
      await random.pick(hat)()
      await setTimeout(random.between(5, 60))
    }
  }
  const lives = Promise.all(Array.from({ length: agents }, live))

  return {
    stop: async () => {
      stopping = true
      await lives
    },
  }
}
