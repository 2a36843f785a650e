/** Erases the content of receipts for the operator. The log keeps their leaves, so that proofs, heads and anchors stay as they are. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { composed, idProblem } from '../../names/names.ts'
import { type ClaimRow, contentLeft } from '../../storage/claim-row.ts'
import { type ErasureRule, isOperatorRule, OPERATOR_RULES, type OperatorRule } from '../../storage/erasure-rules.ts'
import type { ErasureRow, SameOutcome } from '../../storage/erasures.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { LogArchives } from '../log/log-archives.ts'
import type { LogGuard } from '../log/log-guard.ts'

export interface ErasureReason {
  readonly rule: ErasureRule
  /** A text such as a file number; empty if there is none. */
  readonly reference: string
}

export interface ErasureCandidate {
  readonly claim: ClaimRow
  readonly receiptId: string
  /** The erasure of the receipt, if it was erased already. */
  readonly erased: ErasureRow | undefined
  /** Claims with the same target and params, whose receipts say the same. */
  readonly same: readonly SameOutcome[]
}

export interface ErasureOutcome {
  readonly receipt: ErasureRow
  /** False for a receipt that was erased before, by the rule that it names. */
  readonly isNew: boolean
  /** False while files next to the database still hold the content, because a reader was in the way. */
  readonly isForgotten: boolean
}

const MOST_SAME = 100
const LONGEST_REFERENCE = 200

/** The parts of the log that an erasure needs. */
export interface ErasableLog {
  readonly archives: Pick<LogArchives, 'erase' | 'has'>
  readonly logGuard: Pick<LogGuard, 'checkOpen'>
}

interface ErasureParts extends ErasableLog {
  readonly storage: Storage
  readonly now: () => Instant
}

export type ErasureService = ReturnType<typeof createErasureService>

export function createErasureService({ storage, archives, logGuard, now }: ErasureParts) {
  const { erasures } = storage.read

  return {
    /**
     * Finds a receipt for erasure.
     * @param id the id of a receipt, or of its claim
     * @throws ServiceError `not_found`; `conflict` for a claim that is not decided
     */
    async find(id: string): Promise<ErasureCandidate> {
      const claim = (await erasures.claimOf(id)) ?? (await erasures.claim(id))
      if (!claim) throw new ServiceError('not_found', `there is no receipt ${id}`)
      const { claimId, receiptId, deadlineAt } = claim
      if (receiptId === null) {
        const until = formatInstant(deadlineAt)
        const detail = `the claim ${claimId} is not decided yet, so there is nothing to erase: wait until its deadline, ${until}, and erase its receipt then`
        throw new ServiceError('conflict', detail)
      }
      const [erased] = await erasures.byReceiptIds([receiptId])
      return { claim, receiptId, erased, same: erased ? [] : await erasures.sameOutcome(claim, MOST_SAME) }
    },
    /**
     * Erases a receipt, unless it is erased already.
     * @throws ServiceError `not_found`; `read_only` on a database that lacks what was signed
     */
    async erase(receiptId: string, reason: ErasureReason, by: Acting): Promise<ErasureOutcome> {
      const at = now()
      const isNew = await storage.write(async (tx) => {
        const [claim] = await eraseIn(tx, { archives, logGuard }, [receiptId], reason, at)
        if (!claim) return false
        const about = { workspaceId: claim.workspaceId, subject: receiptId }
        tx.audit.record({
          event: 'receipt.erased',
          at,
          by,
          ...about,
          details: { rule: reason.rule, reference: reason.reference },
        })
        return true
      })
      const [receipt] = await erasures.byReceiptIds([receiptId])
      if (!receipt) throw new ServiceError('not_found', `there is no receipt ${receiptId}`)
      return { receipt, isNew, isForgotten: await storage.forgetDeleted() }
    },
    /** Lists the erasures, the latest first. */
    list: (limit: number) => erasures.list(limit),
    /** Writes the database's files anew, without what was erased. False: a reader was in the way, and a later call succeeds. */
    rewriteFiles: () => storage.rewrite(),
  }
}

/**
 * Erases those of these receipts that are not erased yet, and returns their claims as they were.
 * @throws ServiceError `read_only` on a database that lacks what was signed: the newest one, when it is back, would hold the content again;
 *   `unavailable` for a receipt of an archived log whose archive this host does not have: the content would stay there
 */
export async function eraseIn(
  tx: Pick<Writes, 'erasures' | 'log'>,
  { archives, logGuard }: ErasableLog,
  receiptIds: readonly string[],
  { rule, reference }: ErasureReason,
  erasedAt: Instant,
): Promise<readonly ClaimRow[]> {
  const claims = await tx.erasures.lock(receiptIds)
  if (claims.length === 0) return []
  await logGuard.checkOpen((await tx.log.state())!, tx.log)
  const stored = new Map((await tx.erasures.remains(receiptIds)).map((remains) => [remains.receiptId, remains]))
  const elsewhere = await logsElsewhere(tx, archives)
  const rows: ErasureRow[] = []
  for (const { receiptId, claimId, logId } of claims) {
    // The archive is erased before the transaction ends: if that fails, the next try finds the leaf there.
    const archived = await archives.erase(logId!, receiptId!)
    const remains = stored.get(receiptId!) ?? archived
    if (!remains || elsewhere.has(logId!)) throw archiveIsElsewhere(receiptId!, logId!)
    rows.push({ ...remains, claimId, erasedAt, rule, reference })
  }
  await tx.erasures.erase(rows, claims.map(contentLeft))
  return claims
}

/** Lists the archived logs whose archive this host does not have. */
export async function logsElsewhere(
  { log }: { readonly log: Pick<Writes['log'], 'all'> },
  archives: Pick<LogArchives, 'has'>,
): Promise<ReadonlySet<string>> {
  const elsewhere = (await log.all()).filter(({ logId, archivedAt }) => archivedAt !== null && !archives.has(logId))
  return new Set(elsewhere.map(({ logId }) => logId))
}

/** Makes the refusal to erase a receipt whose content would stay in an archive. */
export function archiveIsElsewhere(receiptId: string, logId: string): ServiceError {
  const place = `the receipt ${receiptId} is in the archive of the log ${logId}, which this host does not have`
  const remedy = 'put the archive back to DATA_DIR/logs, or archive the log here again with claimcheck log archive'
  return new ServiceError('unavailable', `${place}: ${remedy} while the database has its rows`)
}

/**
 * Reads the reason of an erasure.
 * @throws ServiceError `bad_request`
 */
export function readReason(rule: string, reference = ''): { readonly rule: OperatorRule; readonly reference: string } {
  if (!isOperatorRule(rule)) {
    const rules = Object.keys(OPERATOR_RULES).join(', ')
    throw new ServiceError('bad_request', `${rule} is no rule by which receipts are erased: name one of ${rules}`)
  }
  const written = composed(reference)
  const isTooLong = written.length > LONGEST_REFERENCE
  const problem = isTooLong ? `use at most ${LONGEST_REFERENCE} characters` : idProblem(written)
  if (problem !== undefined) throw new ServiceError('bad_request', `the reference is not valid: ${problem}`)
  return { rule, reference: written }
}
