/**
 * Appends findings to the log, each with the end of its revisit in one transaction. Findings are rare: the log is locked for each, as by another host,
 * so that appends of receipts cost what they did.
 */
import { type FindingContent, sha256Text } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import { BY_SERVICE } from '../../base/actor.ts'
import { isErased } from '../../storage/claim-row.ts'
import type { RevisitEnd, RevisitRow } from '../../storage/revisits.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { LogPlanner } from '../log/log-planner.ts'

interface FindingLogOptions {
  readonly storage: Pick<Storage, 'write'>
  readonly logPlanner: Pick<LogPlanner, 'draftFinding' | 'plan'>
  readonly logGuard: Pick<LogGuard, 'rememberBeside'>
}

export type FindingLog = ReturnType<typeof createFindingLog>

export function createFindingLog({ storage, logPlanner, logGuard }: FindingLogOptions) {
  return {
    /**
     * Appends a finding and ends its revisit. Does neither where another host has ended it, or the claim's content was erased or its
     * workspace deleted meanwhile.
     * @throws ServiceError `read_only`; SigningError
     */
    async append(
      row: RevisitRow,
      content: Omit<FindingContent, 'evidenceDigest'>,
      evidence: string,
      at: Instant,
    ): Promise<boolean> {
      const { claimId, workspaceId } = row
      const draft = await logPlanner.draftFinding(claimId, { ...content, evidenceDigest: sha256Text(evidence) }, at)
      const append = await storage.write(async (tx) => {
        // The claim comes before the log, as for an erasure: otherwise each could wait for the other.
        const claim = await tx.revisits.lockClaim(claimId)
        const log = await tx.log.lock()
        if (
          !claim ||
          isErased(claim) ||
          !(await tx.workspaces.byIdOrName(workspaceId)) ||
          !(await tx.revisits.lockOpen(row))
        )
          return undefined
        const append = await logPlanner.plan(tx.log, log!, [draft])
        await tx.apply(append)
        const { receiptId: findingId, logId, leafIndex } = append.receipts![0]!
        const end: RevisitEnd = { result: 'changed', endedAt: at, seenAt: content.observedAt, change: content.change }
        await tx.revisits.end(row.revisitId, { ...end, evidence, findingId, logId, leafIndex })
        const about = { workspaceId, subject: claimId, details: { finding_id: findingId } }
        tx.audit.record({ event: 'claim.change_found', at, by: BY_SERVICE, ...about })
        return append
      })
      if (!append) return false
      await logGuard.rememberBeside({ ...append.log, ...append.head })
      return true
    },
  }
}
