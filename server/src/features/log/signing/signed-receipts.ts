/**
 * Remembers which receipts this host signed lately, in DATA_DIR and in the folder of HEAD_MEMORY: after a loss they are named. A line for each
 * receipt, appended with each head; of two files, the older one is dropped when the newer is full.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fromBase64url, toBase64url } from '@claimcheck/core/receipts'
import type { FastifyBaseLogger } from 'fastify'
import type { HostConfig } from '../../../config/config.ts'
import type { LostReceiptRow } from '../../../storage/lost-receipts.ts'
import type { LogConfig } from '../config.ts'
import { apartFolderOf, folderIdOf } from '../memory/folder-memories.ts'

export interface SignedReceipts {
  /** Call it when they are on disk. Never throws: the head is what protects the log. */
  add(receipts: readonly LostReceiptRow[]): void
  /** The last ones, some ten thousand, in any order. */
  recent(): readonly LostReceiptRow[]
  close(): Promise<void>
}

interface SignedReceiptsOptions {
  readonly config: Pick<HostConfig, 'dataDir' | 'databaseUrl'> & Pick<LogConfig, 'headMemory'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

/** Some 15,000 receipts. */
const MOST_BYTES = 2 ** 21

export function createSignedReceipts({ config, logger }: SignedReceiptsOptions): SignedReceipts {
  const apart = apartFolderOf(config)
  const paths = [join(config.dataDir, 'signed-receipts')]
  if (apart !== undefined) paths.push(join(apart, `signed-receipts-${folderIdOf(config.dataDir)}`))
  const files = paths.map(segments)
  let hasWarned = false
  return {
    add(receipts) {
      if (receipts.length === 0) return
      const lines = receipts.map(toLine).join('')
      for (const file of files) {
        try {
          file.append(lines)
        } catch (err) {
          if (!hasWarned) logger.warn({ err }, 'cannot write down which receipts this host signed')
          hasWarned = true
        }
      }
    },
    async close() {
      for (const file of files) file.close()
    },
    recent: () => [
      ...new Map(files.flatMap((file) => file.read()).map((receipt) => [receipt.receiptId, receipt])).values(),
    ],
  }
}

function segments(path: string) {
  const older = `${path}.older`
  let open: { readonly file: number; size: number } | undefined

  function opened() {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, 'a', 0o600)
    return { file, size: fstatSync(file).size }
  }

  return {
    append(lines: string): void {
      open ??= opened()
      if (open.size > MOST_BYTES) {
        closeSync(open.file)
        open = undefined
        renameSync(path, older)
        open = opened()
      }
      writeSync(open.file, lines)
      open.size += lines.length
    },
    close(): void {
      if (open) closeSync(open.file)
      open = undefined
    },
    read: () => [older, path].flatMap(readLines),
  }
}

function toLine({ logId, leafIndex, receiptId, leafHash }: LostReceiptRow): string {
  return `${logId} ${leafIndex} ${receiptId} ${toBase64url(leafHash)}\n`
}

/** A line that was written in part is passed over, and a file that cannot be read. */
function readLines(path: string): LostReceiptRow[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    const [logId = '', index = '', receiptId = '', hash = ''] = line.split(' ')
    const leafHash = fromBase64url(hash, 32)
    return leafHash && /^\d+$/.test(index) ? [{ logId, leafIndex: Number(index), receiptId, leafHash }] : []
  })
}
