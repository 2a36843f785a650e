/** Names the receipts that this host signed and the database lacks, so that who holds one learns what to do. */
import type { FastifyBaseLogger } from 'fastify'
import type { LostReceiptRow } from '../../storage/lost-receipts.ts'
import type { Reads, Storage, Writes } from '../../storage/storage.ts'
import type { SignedReceipts } from './signing/signed-receipts.ts'

export type LostReceipts = ReturnType<typeof createLostReceipts>

interface LostReceiptsOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly signedReceipts: SignedReceipts
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

const PER_READ = 500

export function createLostReceipts({ storage, signedReceipts, logger }: LostReceiptsOptions) {
  let reported = ''

  return {
    /** Stores them, once for each state of the logs. Never throws: it must not keep a host from saying what is wrong. */
    async report(): Promise<void> {
      try {
        const state = (await storage.read.log.state())!
        const key = `${state.logId} ${state.treeSize} ${state.answersAs} ${state.contradictedBy}`
        if (reported === key) return
        const lost = await lostOf(storage.read, signedReceipts.recent())
        if (lost.length > 0) await storage.write((tx) => tx.lost.insert(lost))
        if (lost.length > 0)
          logger.warn(
            { receipts: lost.length, log_id: lost[0]!.logId },
            'the database lacks receipts that this host signed',
          )
        reported = key
      } catch (error) {
        logger.error({ err: error }, 'cannot write down which receipts are lost')
      }
    },
    /** Call it in the transaction that ends a log. @returns all that hosts have named of it */
    async end(tx: Writes, logId: string): Promise<readonly LostReceiptRow[]> {
      const own = signedReceipts.recent().filter((receipt) => receipt.logId === logId)
      await tx.lost.insert(await lostOf(tx, own))
      return tx.lost.ofLog(logId)
    },
  }
}

/** Those that are in no table, and in no archive. */
async function lostOf(
  { log }: Pick<Reads, 'log'>,
  signed: readonly LostReceiptRow[],
): Promise<readonly LostReceiptRow[]> {
  const logs = new Set((await log.all()).filter(({ archivedAt }) => archivedAt === null).map(({ logId }) => logId))
  const asked = signed.filter(({ logId }) => logs.has(logId))
  const lost: LostReceiptRow[] = []
  for (let start = 0; start < asked.length; start += PER_READ) {
    const some = asked.slice(start, start + PER_READ)
    const { receipts, elsewhere } = await log.receiptsByIds(some.map(({ receiptId }) => receiptId))
    const found = new Set([...receipts, ...elsewhere].map(({ receiptId }) => receiptId))
    lost.push(...some.filter(({ receiptId }) => !found.has(receiptId)))
  }
  return lost
}
