/** Repositories of a size that is not pushed commit by commit: long histories, many branches, and a commit that inflates to very much. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { deflateSync } from 'node:zlib'
import { git } from './git.ts'

const MERGED_EVERY = 1_000
const MERGED_COMMITS = 99
/** git compresses each commit by itself. Most of its time would go into giving back the memory for that, and getting it anew. */
const KEEPING_MEMORY = { MALLOC_TRIM_THRESHOLD_: '100000000', MALLOC_MMAP_THRESHOLD_: '100000000' }

export interface LongHistory {
  readonly tip: string
  readonly root: string
  /** On the side branch that was merged three merges ago. */
  readonly threeMergesBack: string
}

/** Makes `main`, with a merge of a side branch at every thousandth commit. @param count at least 4,000 */
export async function writeLongHistory(folder: string, count: number): Promise<LongHistory> {
  const marks = join(folder, 'marks')
  const importing = spawn('git', ['fast-import', '--quiet', `--export-marks=${marks}`], {
    cwd: folder,
    env: { ...process.env, ...KEEPING_MEMORY },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(importing, 'close')
  let mark = 0
  let text = ''
  const commit = (branch: string, parents: readonly number[]): number => {
    const [from, ...merged] = parents
    text += `commit refs/heads/${branch}\nmark :${++mark}\ncommitter A <a@example.com> ${1_600_000_000 + mark} +0000\ndata 1\n.\n`
    if (from !== undefined) text += `from :${from}\n`
    for (const one of merged) text += `merge :${one}\n`
    return mark
  }
  let tip = commit('main', [])
  let merged: number[] = []
  while (mark < count) {
    const base = tip
    for (let i = 0; i < MERGED_EVERY - MERGED_COMMITS - 1; i++) tip = commit('main', [tip])
    let side = base
    for (let i = 0; i < MERGED_COMMITS; i++) side = commit('side', [side])
    merged = [...merged.slice(-2), side - MERGED_COMMITS / 3]
    tip = commit('main', [tip, side])
    if (!importing.stdin.write(text)) await once(importing.stdin, 'drain')
    text = ''
  }
  importing.stdin.end()
  await finished(importing.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
  await git(folder, ['update-ref', '-d', 'refs/heads/side'])
  const ids = await readFile(marks, 'latin1')
  const idOf = (number: number) => new RegExp(`^:${number} (.*)$`, 'm').exec(ids)![1]!
  return { tip: idOf(tip), root: idOf(1), threeMergesBack: idOf(merged[0]!) }
}

/** Makes so many branches, all with this tip. */
export async function writeBranches(folder: string, count: number, tip: string): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `refs/heads/many-${String(i).padStart(7, '0')}`)
  const lines = names.map((name) => `${tip} ${name}\n`)
  await writeFile(join(folder, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
}

/** The most that one instruction of a delta copies. */
const COPIED_BYTES = 0xffffff
const COPY_ALL = Buffer.from([0xf0, 0xff, 0xff, 0xff])
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const COMMIT = 1
const REF_DELTA = 7

export interface Bomb {
  /** Its parent is the commit that it is a delta of. */
  readonly sha: string
  readonly packBytes: number
}

/** Makes a commit with a message of `copies` times 16 MiB, as a delta. No ref holds it. */
export async function writeBomb(folder: string, copies: number): Promise<Bomb> {
  const people = 'author A <a@example.com> 0 +0000\ncommitter A <a@example.com> 0 +0000\n\n'
  const base = Buffer.alloc(COPIED_BYTES, '\n')
  base.write(`tree ${EMPTY_TREE}\n${people}`)
  const baseId = idOf([base])
  const head = Buffer.from(`tree ${EMPTY_TREE}\nparent ${baseId.toString('hex')}\n${people}`)
  const size = head.length + copies * COPIED_BYTES
  const inserts = [head.subarray(0, 100), head.subarray(100)].flatMap((part) => [Buffer.from([part.length]), part])
  const delta = Buffer.concat([
    ...[varint(COPIED_BYTES), varint(size), ...inserts],
    ...Array.from({ length: copies }, () => COPY_ALL),
  ])
  const body = Buffer.concat([
    ...[Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 2])],
    ...[entryHead(COMMIT, COPIED_BYTES), deflateSync(base, { level: 9 })],
    ...[entryHead(REF_DELTA, delta.length), baseId, deflateSync(delta)],
  ])
  const pack = Buffer.concat([body, createHash('sha1').update(body).digest()])
  const storing = spawn('git', ['index-pack', '--stdin'], { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] })
  storing.stdin.end(pack)
  const [code] = await once(storing, 'close')
  if (code !== 0) throw new Error(`git index-pack ended with ${code}`)
  const sha = idOf([head, ...Array.from({ length: copies }, () => base)]).toString('hex')
  return { sha, packBytes: pack.length }
}

function idOf(parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const hash = createHash('sha1').update(`commit ${size}\0`)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** gitformat-pack(5): seven bits a byte, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; ; left = Math.floor(left / 128)) {
    bytes.push((left % 128) + (left >= 128 ? 128 : 0))
    if (left < 128) return Buffer.from(bytes)
  }
}

/** gitformat-pack(5): the type and the lowest four bits of the size come first. */
function entryHead(type: number, size: number): Buffer {
  const isLong = size >= 16
  const first = Buffer.from([type * 16 + (size % 16) + (isLong ? 128 : 0)])
  return isLong ? Buffer.concat([first, varint(Math.floor(size / 16))]) : first
}
