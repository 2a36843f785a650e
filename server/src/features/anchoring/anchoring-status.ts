/** The status of anchoring for the operator: the stored anchors, and the account's balance. */
import type { AnchorAccount } from '@claimcheck/core/hosting'
import type { Anchorer } from '@claimcheck/core/plugin'
import { AnchoringError, callAnchorer } from '../../plugins/anchorer-calls.ts'
import type { AnchoringProblem, AnchorRow } from '../../storage/anchor-row.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Anchoring } from './anchoring.ts'

export interface AnchoringStatus {
  readonly anchorer: Anchorer | undefined
  /** The account; undefined where no anchorer is configured. */
  readonly account: AnchorAccount | { readonly problem: AnchoringProblem } | undefined
  /** The cost of the landed anchors by chain, in the smallest unit of its currency. */
  readonly costs: ReadonlyMap<string, bigint>
  readonly open: AnchorRow | undefined
  /** The newest anchors besides the open one, newest first. */
  readonly recent: readonly AnchorRow[]
}

const MAX_RECENT = 10
const ANSWER_MS = 15_000

export async function anchoringStatus(parts: {
  anchoring: Anchoring | undefined
  storage: Pick<Storage, 'read'>
}): Promise<AnchoringStatus> {
  const { anchoring, storage } = parts
  const { anchors } = storage.read
  const anchorer = anchoring?.anchorer
  const [account, costs, open, recent] = await Promise.all([
    anchorer && accountOf(anchorer),
    anchors.costs(),
    anchors.open(),
    anchors.recent(MAX_RECENT),
  ])
  return { anchorer, account, costs, open, recent: recent.filter(({ id }) => id !== open?.id) }
}

async function accountOf(anchorer: Anchorer): Promise<AnchoringStatus['account']> {
  const { signal } = new AbortController()
  try {
    return await callAnchorer((limit) => anchorer.account(limit), { signal, limitMs: ANSWER_MS })
  } catch (error) {
    if (!(error instanceof AnchoringError)) throw error
    return { problem: error.problem }
  }
}
