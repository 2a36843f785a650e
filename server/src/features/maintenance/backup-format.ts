/**
 * A backup is a folder, the same of every database:
 *
 * - `TABLE.jsonl.gz`, for each table that is copied: a line for each row, the JSON array of its cells in the order of the columns; bytes
 *   are hex
 * - `archives.jsonl.gz`: a line for each file of the archives of logs that have ended: its path below `DATA_DIR/logs`, and its content in
 *   base64
 * - `manifest.json`: what the backup is of, the rows, bytes and SHA-256 of each file, and the key that signs the log, sealed under the
 *   secret key. Its last member is the sealed digest of all others: a manifest that was made without the secret key is refused
 * - `restored.json`: in a log's last backup, once its log goes on elsewhere: which restore that was
 */

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { jsonIn } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { replaceFile } from '../../base/files.ts'
import { SecretError } from '../../base/secret-keys.ts'
import type { Secrets } from '../../base/secrets.ts'
import { sha256Text } from '../../base/sha256.ts'
import { backupContext } from '../../storage/sealed-contexts.ts'

export const FORMAT = 'claimcheck-backup-1'
export const ARCHIVES = 'archives'
export const MANIFEST = 'manifest.json'
/** Written by the restore in which a last backup goes on. */
export const RESTORED = 'restored.json'
/** Bounds memory: the longest lines have some 20 KB. */
const LINES_PER_READ = 500

export interface BackupFile {
  readonly rows: number
  readonly bytes: number
  /** In hex, of the file as it is. */
  readonly sha256: string
}

export interface Manifest {
  readonly format: typeof FORMAT
  /** The id of the backup. */
  readonly epoch: string
  readonly made_at: string
  /** Of the program that made it. */
  readonly version: string
  /** The migrations of the database: a program with others does not read it. */
  readonly schema: readonly string[]
  /** The log that was open; null before the first start. */
  readonly log: { readonly log_id: string; readonly tree_size: number; readonly tree_head: string } | null
  /** The hosts that shared the database; left out where one host has it, or none was seen. */
  readonly hosts?: readonly string[] | undefined
  /** True when the log is closed where its last backup was made, and goes on where that is restored; `making` before. */
  readonly last?: true | 'making' | undefined
  /** null where a signing backend has it. */
  readonly signing_key: { readonly key_id: string; readonly sealed: string } | null
  /** By table, and `archives`. */
  readonly files: Readonly<Record<string, BackupFile>>
}

type Line = readonly unknown[]

/** Writes a file of lines, which must not be there. It is on disk when this returns. */
export async function writeLines(
  folder: string,
  name: string,
  lines: AsyncIterable<readonly Line[]>,
): Promise<BackupFile> {
  const digest = createHash('sha256')
  let rows = 0
  let bytes = 0
  async function* texts() {
    for await (const some of lines) {
      rows += some.length
      yield some.map((line) => `${JSON.stringify(line)}\n`).join('')
    }
  }
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      digest.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  const file = createWriteStream(join(folder, fileName(name)), { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(Readable.from(texts()), createGzip(), counted, file)
  return { rows, bytes, sha256: digest.digest('hex') }
}

/** The lines of a file, some at a time. */
export async function* readLines(folder: string, name: string): AsyncGenerator<readonly Line[]> {
  const text = createGunzip()
  // An error of the file becomes one of the text.
  pipeline(createReadStream(join(folder, fileName(name))), text).catch(() => {})
  let rest = ''
  let lines: Line[] = []
  for await (const chunk of text.setEncoding('utf8')) {
    const whole = (rest + chunk).split('\n')
    rest = whole.pop()!
    for (const line of whole) lines.push(JSON.parse(line))
    if (lines.length < LINES_PER_READ) continue
    yield lines
    lines = []
  }
  if (lines.length > 0) yield lines
}

/** The last file that is written. A last backup writes it again when it has closed the log. */
export function writeManifest(folder: string, manifest: Manifest, secrets: Secrets): void {
  const seal = secrets.seal(digestOf(manifest), backupContext(manifest.epoch))
  replaceFile(join(folder, MANIFEST), `${JSON.stringify({ ...manifest, seal }, undefined, 2)}\n`)
}

/** @throws ServiceError `bad_request` for what is no complete backup; SecretError where another key sealed it */
export function readManifest(folder: string, secrets: Secrets): Manifest {
  const path = join(folder, MANIFEST)
  const { seal, ...manifest } = parseManifest(path)
  if (manifest.format !== FORMAT)
    throw new ServiceError('bad_request', `${path} has the format ${manifest.format}, and this version reads ${FORMAT}`)
  try {
    if (secrets.open(seal, backupContext(manifest.epoch)) === digestOf(manifest)) return manifest
  } catch (cause) {
    const message = `${path} cannot be opened, and nothing was restored: ${(cause as Error).message}`
    throw new SecretError('wrong_key', message, { cause })
  }
  throw damaged(path, 'was changed')
}

/** Compares each file with the manifest. @throws ServiceError `bad_request` that names the file */
export async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const [name, { bytes, sha256 }] of Object.entries(files)) {
    const path = join(folder, fileName(name))
    const digest = createHash('sha256')
    let found = 0
    try {
      for await (const chunk of createReadStream(path)) {
        digest.update(chunk)
        found += chunk.length
      }
    } catch (error) {
      throw damaged(path, (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is missing' : (error as Error).message)
    }
    if (found !== bytes) throw damaged(path, `has ${found} bytes, and ${bytes} were written`)
    if (digest.digest('hex') !== sha256) throw damaged(path, 'differs from what was written')
  }
}

function parseManifest(path: string): Manifest & { readonly seal: string } {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const detail = `this is no complete backup: ${(cause as Error).message}. A folder that ends in .partial is of a backup that did not end: make another`
    throw new ServiceError('bad_request', detail, { cause })
  }
  const manifest = jsonIn(text) as unknown as Manifest & { seal: string }
  if (typeof manifest?.format !== 'string' || typeof manifest.seal !== 'string')
    throw damaged(path, 'is not a manifest')
  return manifest
}

function digestOf(manifest: Manifest): string {
  return sha256Text(JSON.stringify(manifest))
}

function fileName(name: string): string {
  return `${name}.jsonl.gz`
}

function damaged(path: string, reason: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `the backup is damaged: ${path} ${reason}. Nothing was restored: use another backup`,
  )
}
