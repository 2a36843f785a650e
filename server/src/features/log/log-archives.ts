/**
 * Archives of logs that have ended, each a folder in DATA_DIR/logs with the name of the log's id. It is all that receipts are served from
 * once the log's rows are taken out of the tables:
 *
 * - `log.json`: the log's name, and its last signed head
 * - `tile/LEVEL/INDEX.WIDTH`: the hashes of a tile as they are stored, also of the newest leaves
 * - `receipts/XX/RECEIPT_ID.json`: an entry with its evidence; XX are the last two letters of the id. Erasing leaves the leaf
 *   alone in it
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  appendLeaves,
  EMPTY_RANGE,
  HASH_BYTES,
  joinTile,
  partialTiles,
  TILE_WIDTH,
  type TileId,
} from '@claimcheck/core/log'
import { bytesEqual } from '@claimcheck/core/receipts'
import { ServiceError } from '../../base/errors.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Remains } from '../../storage/erasures.ts'
import type { ReceiptRow } from '../../storage/log.ts'
import type { LogTip, TreeHeadRow } from '../../storage/log-state.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import { type LogRows, SHA256_TREE } from './log-rows.ts'

export interface ArchivedReceipt extends ReceiptRow {
  readonly evidence: string | undefined
}

export interface LogArchives {
  /** Writes the archive of a log that has ended, and reads it again. @throws ServiceError `not_found`, `conflict` */
  write(logId: string): Promise<{ readonly folder: string; readonly treeSize: number }>
  /** Whether this host has the folder, whatever is in it. */
  has(logId: string): boolean
  /** @throws ServiceError `unavailable` when the archive is not there */
  open(logId: string): Promise<{ readonly rows: LogRows; readonly state: LogTip }>
  /** @throws ServiceError `unavailable` when it is not there */
  receipt(logId: string, receiptId: string): Promise<ArchivedReceipt>
  /** The receipts that have a file, in any order. */
  receiptIds(logId: string): AsyncIterable<string>
  /** Derives the tree from the archived leaves, and says in words what differs. */
  treeProblems(logId: string): AsyncIterable<string>
  /** Leaves nothing of the content. Undefined where it is not there. */
  erase(logId: string, receiptId: string): Promise<Remains | undefined>
}

interface LogArchivesOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly config: Pick<HostConfig, 'dataDir'>
}

const RECEIPTS_PER_READ = 256

/** The folder of the archives of all logs. */
export function archivesIn(dataDir: string): string {
  return join(dataDir, 'logs')
}

export function createLogArchives({ storage, config }: LogArchivesOptions): LogArchives {
  const root = archivesIn(config.dataDir)
  const archiveOf = (logId: string): Archive => ({ folder: join(root, logId), logId })
  return {
    async write(logId) {
      const log = (await storage.read.log.all()).find((one) => one.logId === logId)
      if (!log) throw new ServiceError('not_found', `there is no log ${logId}`)
      if (log.endedAt === null) {
        const detail = `the log ${logId} is open: begin the next one first, with claimcheck log new`
        throw new ServiceError('conflict', detail)
      }
      const head = await storage.read.log.newestHead(logId)
      if (!head) throw new ServiceError('conflict', `this database has no entries of the log ${logId}`)
      const archive = archiveOf(logId)
      const { treeSize } = head
      await writeTiles(archive, storage.read, treeSize)
      await writeReceipts(archive, storage.read, treeSize)
      await put(manifestOf(archive), JSON.stringify({ name: log.name, head: toManifest(head) }))
      await verify(archive, storedReceipts(storage.read, logId, treeSize))
      await storage.write((tx) => tx.log.archived(logId))
      return { folder: archive.folder, treeSize }
    },
    has: (logId) => existsSync(archiveOf(logId).folder),
    open: (logId) => open(archiveOf(logId)),
    receipt: (logId, receiptId) => receipt(archiveOf(logId), receiptId),
    receiptIds: (logId) => archivedIds(archiveOf(logId)),
    treeProblems: (logId) => treeProblems(archiveOf(logId)),
    erase: (logId, receiptId) => erase(archiveOf(logId), receiptId),
  }
}

/** Where the archive of a log is. */
interface Archive {
  readonly folder: string
  readonly logId: string
}

function manifestOf({ folder }: Archive): string {
  return join(folder, 'log.json')
}

function tileName({ level, index, width }: TileId): string {
  return `tile/${level}/${index}.${width}`
}

function tileOf({ folder }: Archive, tile: TileId): string {
  return join(folder, tileName(tile))
}

function receiptOf({ folder }: Archive, receiptId: string): string {
  return join(folder, 'receipts', receiptId.slice(-2), `${receiptId}.json`)
}

async function read({ logId }: Archive, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    const detail = `it is in the archive of the log ${logId}, which this host does not have: put the archive back to DATA_DIR/logs`
    throw new ServiceError('unavailable', detail, { cause })
  }
}

async function open(archive: Archive) {
  const { name, head } = JSON.parse((await read(archive, manifestOf(archive))).toString()) as Manifest
  const { logId } = archive
  const state = { ...head, logId, name, rootHash: Buffer.from(head.rootHash, 'hex') }
  return { rows: rowsIn(archive, state), state }
}

function rowsIn(archive: Archive, { treeSize }: LogTip): LogRows {
  const hashesOf = (tile: TileId) => read(archive, tileOf(archive, tile))
  return {
    async tile(logId, level, index, width) {
      const newest = partialTiles(treeSize).find((tile) => tile.level === level && tile.index === index)
      const stored = newest?.width ?? TILE_WIDTH
      if (stored < width) return undefined
      return { logId, level, index, width: stored, hashes: await hashesOf({ level, index, width: stored }) }
    },
    fullTiles: (logId, places) =>
      Promise.all(
        places.map(async (place) => {
          const tile = { ...place, width: TILE_WIDTH }
          return { logId, ...tile, hashes: await hashesOf(tile) }
        }),
      ),
    async leaves(_logId, start, end) {
      const index = Math.floor(start / TILE_WIDTH)
      const width = Math.min(TILE_WIDTH, treeSize - index * TILE_WIDTH)
      const hashes = await hashesOf({ level: 0, index, width })
      return Array.from({ length: end - start }, (_, leaf) => {
        const at = (start - index * TILE_WIDTH + leaf) * HASH_BYTES
        return { leafHash: hashes.subarray(at, at + HASH_BYTES) }
      })
    },
    newestHead: async () => JSON.parse((await read(archive, manifestOf(archive))).toString()).head,
  }
}

async function receipt(archive: Archive, receiptId: string): Promise<ArchivedReceipt> {
  const row = JSON.parse((await read(archive, receiptOf(archive, receiptId))).toString())
  return { ...row, logId: archive.logId, receiptId, leafHash: Buffer.from(row.leafHash, 'hex') }
}

async function erase(archive: Archive, receiptId: string): Promise<Remains | undefined> {
  const path = receiptOf(archive, receiptId)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (text === undefined) return undefined
  const { evidence, ...row } = JSON.parse(text)
  await put(path, JSON.stringify({ ...row, entry: '' }))
  const { leafIndex, leafHash, issuedAt } = row
  return { receiptId, logId: archive.logId, leafIndex, leafHash: Buffer.from(leafHash, 'hex'), issuedAt }
}

async function writeTiles(archive: Archive, { log }: Reads, treeSize: number): Promise<void> {
  const { logId } = archive
  for (let level = 0, width = treeSize; width > 0; level++, width = Math.floor(width / TILE_WIDTH)) {
    for (let index = 0; index < Math.ceil(width / TILE_WIDTH); index++) {
      const own = Math.min(TILE_WIDTH, width - index * TILE_WIDTH)
      const start = index * TILE_WIDTH
      const hashes =
        level === 0 && own < TILE_WIDTH
          ? joinTile((await log.leaves(logId, start, start + own)).map(({ leafHash }) => leafHash))
          : (await log.tile(logId, level, index, own))!.hashes
      await put(tileOf(archive, { level, index, width: own }), hashes)
    }
  }
}

async function writeReceipts(archive: Archive, read: Reads, treeSize: number): Promise<void> {
  for await (const stored of storedReceipts(read, archive.logId, treeSize)) {
    const { receiptId, claimId, leafIndex, leafHash, issuedAt, entry } = stored
    if (entry === '') {
      // An earlier archive may still have what was erased.
      await erase(archive, receiptId)
      continue
    }
    const evidence = await read.log.evidenceOf(receiptId)
    const row = { leafIndex, claimId, leafHash: Buffer.from(leafHash).toString('hex'), issuedAt, entry, evidence }
    await put(receiptOf(archive, receiptId), JSON.stringify(row))
  }
}

async function* storedReceipts({ log }: Reads, logId: string, treeSize: number): AsyncGenerator<ReceiptRow> {
  for (let start = 0; start < treeSize; start += RECEIPTS_PER_READ) {
    yield* await log.receipts(logId, start, Math.min(treeSize, start + RECEIPTS_PER_READ))
  }
}

async function* archivedIds({ folder }: Archive): AsyncGenerator<string> {
  const receipts = join(folder, 'receipts')
  for (const letters of (await readdir(receipts)).sort()) {
    for (const name of await readdir(join(receipts, letters))) {
      if (name.endsWith('.json')) yield basename(name, '.json')
    }
  }
}

/** What of the archived tiles does not make the tree that was signed. */
async function* treeProblems(archive: Archive): AsyncGenerator<string> {
  const { rows, state } = await open(archive)
  const stored = partialTiles(state.treeSize).map(tileName)
  let range = EMPTY_RANGE
  let rootHash = SHA256_TREE.empty
  for (let start = 0; start < state.treeSize; start += TILE_WIDTH) {
    const leaves = await rows.leaves(archive.logId, start, Math.min(state.treeSize, start + TILE_WIDTH))
    const hashes = leaves.map(({ leafHash }) => leafHash)
    const appended = appendLeaves(range, hashes, SHA256_TREE)
    for (const tile of appended.tiles) {
      if (tile.width < TILE_WIDTH && !stored.includes(tileName(tile))) continue
      const archived = await read(archive, tileOf(archive, tile))
      if (!bytesEqual(archived, tile.hashes)) yield `${tileName(tile)} does not follow from the leaves`
    }
    ;({ range, rootHash } = appended)
  }
  if (!bytesEqual(rootHash, state.rootHash)) yield 'the leaves do not make the signed root'
}

/** Whether the archived leaves make the tree that was signed, and each entry is its leaf. */
async function verify(archive: Archive, stored: AsyncIterable<ReceiptRow>): Promise<void> {
  const { logId } = archive
  for await (const _problem of treeProblems(archive)) throw damaged(logId)
  const { rows } = await open(archive)
  for await (const { receiptId, entry: content } of stored) {
    if (content === '') continue
    const { entry, leafIndex } = await receipt(archive, receiptId)
    const [leaf] = await rows.leaves(logId, leafIndex, leafIndex + 1)
    if (!bytesEqual(SHA256_TREE.leaf(Buffer.from(entry)), leaf!.leafHash)) throw damaged(logId)
  }
}

interface Manifest {
  readonly name: string
  readonly head: Omit<TreeHeadRow, 'rootHash'> & { readonly rootHash: string }
}

function toManifest({ rootHash, ...head }: TreeHeadRow): Manifest['head'] {
  return { ...head, rootHash: Buffer.from(rootHash).toString('hex') }
}

function damaged(logId: string): ServiceError {
  return new ServiceError(
    'conflict',
    `the rows of the log ${logId} are damaged, and are not archived: claimcheck doctor says more`,
  )
}

/** Whole or not at all: a process that ends meanwhile leaves no half of a file under this name. */
async function put(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(`${path}.new`, content, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
