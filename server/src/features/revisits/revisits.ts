/**
 * Asks for looks at decided claims. Owners ask, and schedules that they set: not the agent's key, which could spend a connection's requests on claims
 * that are decided.
 */
import { canBeRevisited, type Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { type ClaimRow, isErased } from '../../storage/claim-row.ts'
import { MOST_REVISITS, type RevisitRow, type ShownRevisit } from '../../storage/revisits.ts'
import type { Storage, Writes } from '../../storage/storage.ts'

interface RevisitsOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly now: () => Instant
}

export const DAY_MS = 86_400_000
/** The most revisits of a workspace that wait. */
export const MOST_WAITING = 1000
const MOST_DAYS = 365
/** The most days of a schedule: one revisit stays for an owner who asks. */
const MOST_TIMES = MOST_REVISITS - 1

export type Revisits = ReturnType<typeof createRevisits>

export function createRevisits({ storage, now }: RevisitsOptions) {
  let asked: () => void = () => {}

  /**
   * Inserts a revisit of a locked claim.
   * @returns the revisit that waits already, or the new one; undefined where the claim had the most
   */
  async function add(
    tx: Writes,
    { claimId, workspaceId }: ClaimRow,
    askedBy: RevisitRow['askedBy'],
    earlier: readonly ShownRevisit[],
  ): Promise<ShownRevisit | undefined> {
    const waiting = earlier.find(({ result }) => result === null)
    if (waiting) return waiting
    if (earlier.length >= MOST_REVISITS) return undefined
    const at = now()
    const row: RevisitRow = {
      ...{ revisitId: newId('rvt_', at), claimId, workspaceId, ordinal: earlier.length + 1, askedAt: at, askedBy },
      ...{ dueAt: at, beganAt: null, looks: [], lookCount: 0, result: null, endedAt: null, seenAt: null },
      ...{ change: null, evidence: null, findingId: null, logId: null, leafIndex: null },
    }
    await tx.revisits.insert(row)
    return row
  }

  /** Locks a claim that can be looked at again; undefined for any other. */
  async function lock(tx: Writes, claimId: string): Promise<ClaimRow | undefined> {
    const claim = await tx.revisits.lockClaim(claimId)
    if (!claim || isErased(claim)) return undefined
    return canBeRevisited(claim.verdict, await tx.claims.history(claimId)) ? claim : undefined
  }

  return {
    /**
     * Asks for a revisit, for an owner of the claim's workspace. One that waits already is joined.
     * @throws ServiceError `not_found`; `conflict` for a claim that cannot be looked at again, or was often enough; `too_many`
     * while too many of the workspace wait
     */
    async ask(workspaceId: string, claimId: string, by: Acting): Promise<ShownRevisit> {
      if (!(await storage.read.claims.byId(workspaceId, claimId)))
        throw new ServiceError('not_found', 'there is no such claim')
      const revisit = await storage.write(async (tx) => {
        const claim = await lock(tx, claimId)
        if (!claim) throw new ServiceError('conflict', NOT_THERE)
        const before = await tx.revisits.ofClaim(claimId)
        const isJoined = before.some(({ result }) => result === null)
        if (!isJoined && (await tx.revisits.waiting(workspaceId, MOST_WAITING)) >= MOST_WAITING)
          throw new ServiceError('too_many', `${MOST_WAITING} revisits of this workspace wait`, {
            retryAfterMs: 60_000,
          })
        const revisit = await add(tx, claim, 'owner', before)
        if (!revisit)
          throw new ServiceError(
            'conflict',
            `a claim is looked at again ${MOST_REVISITS} times at most, and this one was`,
          )
        const isNew = before.every(({ revisitId }) => revisitId !== revisit.revisitId)
        if (isNew) tx.audit.record({ event: 'claim.revisit_asked', at: now(), by, workspaceId, subject: claimId })
        return revisit
      })
      asked()
      return revisit
    },
    /** Asks for a revisit by a schedule, in a transaction. False where there is none to ask for. */
    async askBySchedule(tx: Writes, claimId: string): Promise<boolean> {
      const claim = await lock(tx, claimId)
      if (!claim) return false
      return (await add(tx, claim, 'schedule', await tx.revisits.ofClaim(claimId))) !== undefined
    },
    ofClaim: (claimId: string): Promise<ShownRevisit[]> => storage.read.revisits.ofClaim(claimId),
    /** Lists the days after which a workspace has its claims looked at again; none by default. */
    days: (workspaceId: string): Promise<number[]> => storage.read.revisits.daysOf(workspaceId),
    /**
     * Sets the days. Claims that are older already are not looked at.
     * @throws ServiceError `bad_request`
     */
    async setDays(workspaceId: string, days: readonly number[], by: Acting): Promise<void> {
      const each = [...new Set(days)].sort((one, other) => one - other)
      const isValid = each.every((one) => Number.isSafeInteger(one) && one >= 1 && one <= MOST_DAYS)
      if (!isValid || each.length > MOST_TIMES) {
        const detail = `name at most ${MOST_TIMES} numbers of days, each from 1 to ${MOST_DAYS}`
        throw new ServiceError('bad_request', detail)
      }
      const at = now()
      await storage.write(async (tx) => {
        await tx.revisits.setDays(workspaceId, each, (days) => at - days * DAY_MS)
        tx.audit.record({
          event: 'workspace.revisits_changed',
          at,
          by,
          workspaceId,
          details: { days: each.join(', ') },
        })
      })
    },
    /** @param listener called after a revisit was asked for on this host */
    onAsked(listener: () => void): void {
      asked = listener
    },
  }
}

const NOT_THERE =
  'only a claim that is verified or late can be looked at again, if a check saw the outcome itself and its content was not erased'
