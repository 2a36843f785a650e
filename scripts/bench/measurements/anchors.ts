/** What anchoring costs: on the chain, for claims meanwhile, and for a check. The chain is a local one with the real contracts. */
import { setTimeout } from 'node:timers/promises'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import { createEasChecker } from '@claimcheck/plugin-anchor-eas/checker'
import { SCRIPTED } from '../../../test/support/installation.ts'
import { startAnchoring } from '../../demo/anchoring.ts'
import { decidingSide, type Target } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import { createWorkspace, withInstallation, withOpened } from '../installation.ts'
import { type Served, withProcess } from '../process.ts'
import { median } from '../statistics.ts'
import { inTurn } from '../turns.ts'

const LOAD = { connections: 16, roundMs: 3_000 }
const ROUNDS = 3
const WARM_UP_MS = 2_000
const CHECKS = 50
const PATIENCE_MS = 60_000
const DEFAULT_INTERVAL_S = 600
/** How fast receipts come, for what a million of them cost. */
const RECEIPTS_A_SECOND = 10

export async function measureAnchors(): Promise<Figure[]> {
  const anchoring = await startAnchoring({ interval_s: 1 })
  try {
    return await withHost([], (plain) =>
      withHost([anchoring.plugin], async (anchored) => {
        const ratio = await compareLatencies(anchored, plain)
        // Two anchors have landed by then.
        const checkMs = await timeOfCheck(anchored.target, anchoring.rpcUrl)
        const gas = await anchored.gasUsed()
        const anchors = 1_000_000 / RECEIPTS_A_SECOND / DEFAULT_INTERVAL_S
        return [
          { name: 'gas of an anchor that names the one before', value: gas, unit: 'gas' },
          figure(
            `gas for a million receipts, ${RECEIPTS_A_SECOND} a second, an anchor every ${DEFAULT_INTERVAL_S} s`,
            gas * anchors,
            'gas',
          ),
          figure(
            'from POST to provable while the log is anchored every second, ratio of p50 to none anchored',
            ratio,
            '',
            { atMost: 1.1 },
          ),
          figure('a receipt with its anchor checked by a stranger, with a node on this machine', checkMs, 'ms'),
        ]
      }),
    )
  } finally {
    await anchoring.stop()
  }
}

type Plugins = NonNullable<Parameters<typeof withInstallation>[0]['plugins']>

interface Host {
  readonly served: Served
  readonly target: Target
  gasUsed(): Promise<number>
}

function withHost<T>(plugins: Plugins, work: (host: Host) => Promise<T>): Promise<T> {
  return withInstallation({ plugins: [SCRIPTED, ...plugins] }, async (installation) => {
    const { key } = await withOpened(installation, createWorkspace)
    const gasUsed = () =>
      withOpened(installation, async ({ storage }) => {
        const landed = (await storage.read.anchors.recent(100)).find(({ landing, previousId }) => landing && previousId)
        if (!landed?.landing) throw new Error('no second anchor has landed')
        return landed.landing.gasUsed
      })
    return withProcess('host', installation, (served) => work({ served, target: { url: served.url, key }, gasUsed }))
  })
}

async function compareLatencies(anchored: Host, plain: Host): Promise<number> {
  const sides = {
    anchored: decidingSide(anchored.served, anchored.target.key, LOAD),
    plain: decidingSide(plain.served, plain.target.key, LOAD),
  }
  const measured = await inTurn(sides, { rounds: ROUNDS, warmUpMs: WARM_UP_MS })
  return median(measured.anchored.latenciesMs) / median(measured.plain.latenciesMs)
}

async function timeOfCheck({ url, key }: Target, rpcUrl: string): Promise<number> {
  const receipt = await anchoredReceipt({ url, key })
  const keys = parseKeySet(await (await fetch(`${url}/.well-known/poaw-keys.json`)).text())
  const anchorCheckers = [createEasChecker({ rpcUrl })]
  const timesMs: number[] = []
  for (let count = 0; count < CHECKS; count++) {
    const start = performance.now()
    const { checks } = await checkReceipt(receipt, { keys, anchorCheckers })
    if (checks.anchor !== 'anchored') throw new Error(`the anchor does not hold: ${checks.anchor}`)
    timesMs.push(performance.now() - start)
  }
  return median(timesMs)
}

/** The newest of all, once it is anchored. */
async function anchoredReceipt({ url, key }: Target): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const list = await (await fetch(`${url}/v1/claims?limit=1`, { headers })).json()
  const [{ receipt_id }] = (list as { claims: [{ receipt_id: string }] }).claims
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await setTimeout(200)) {
    const receipt = await (await fetch(`${url}/v1/receipts/${receipt_id}`)).text()
    if (JSON.parse(receipt).proof.anchor) return receipt
  }
  throw new Error('a receipt was not anchored')
}
