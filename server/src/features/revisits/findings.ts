/** Serves findings to everybody who has their id: the entry of the log with its proof, and the evidence whose digest it signs. */
import type { Storage } from '../../storage/storage.ts'
import type { LogService } from '../log/log.ts'
import type { LogArchives } from '../log/log-archives.ts'
import { withProofs } from '../receipts/receipts.ts'

interface FindingsOptions {
  readonly storage: Pick<Storage, 'read'>
  readonly log: Pick<LogService, 'inclusions'>
  readonly archives: Pick<LogArchives, 'receipt'>
}

export type FindingService = ReturnType<typeof createFindings>

export function createFindings({ storage: { read }, log, archives }: FindingsOptions) {
  return {
    /** Reads a finding as JSON text, its body and signature as they are stored; undefined for an unknown id, and one of an erased claim. */
    async get(findingId: string): Promise<string | undefined> {
      const row = await read.revisits.byFinding(findingId)
      if (!row || row.logId === null || row.leafIndex === null) return undefined
      const [stored] = await read.log.receipts(row.logId, row.leafIndex, row.leafIndex + 1)
      const entry = stored ?? (await archives.receipt(row.logId, findingId))
      return withProofs([entry], await log.inclusions(row.logId, [row.leafIndex])).get(findingId)
    },
    async evidence(findingId: string): Promise<string | undefined> {
      return (await read.revisits.byFinding(findingId))?.evidence ?? undefined
    },
  }
}
