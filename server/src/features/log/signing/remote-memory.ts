/**
 * Remembers the newest head in an object store with conditional writes, one object for each log, which all hosts write. It is read before this
 * host signs, and follows some seconds behind: no claim waits for it. What is found there ahead of the database contradicts it. Who can write
 * there can write anything: what no key of the log signed counts for nothing, and the next head replaces it.
 */
import { AwsClient } from 'aws4fetch'
import type { FastifyBaseLogger } from 'fastify'
import pLimit from 'p-limit'
import type { SigningKeyRow } from '../../../storage/log.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { LogConfig } from '../config.ts'
import { includes } from '../log-comparison.ts'
import { HeadMemoryError } from './head-file.ts'
import { following, fromRecord, type Head, isBefore, readRetired, retiredBy, toRecord } from './head-record.ts'
import { isClosing, type Lock, lineageOf, type MovedLog, moveIn, textOfMove } from './moves.ts'
import { headOf, isSigned } from './signed-heads.ts'

export type RemoteMemory = typeof NONE

interface RemoteMemoryOptions {
  readonly config: Partial<Pick<LogConfig, 'remoteMemory'>>
  readonly storage: Pick<Storage, 'read'>
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'info'>
}

const EVERY_MS = 5000
const TIMEOUT_MS = 5000
/** Where other hosts write at the same time. */
const FLUSH_WRITES = 5

const NONE = {
  /** Reads what is there, and whether the log was moved. @throws HeadMemoryError `unreadable` */
  load: async (_log: MovedLog): Promise<void> => {},
  /** What was there, as far as this host knows; none before `load`. */
  recall: (_logId: string): readonly Head[] => [],
  /** Whether it had a record when it was read last, of whomever; undefined: this host does not know. */
  isThere: (_logId: string): boolean | undefined => undefined,
  /** See `CheckpointStore`. */
  retired: (_logId: string): readonly string[] => [],
  /** The moves that followed the given ones, as they were read last. */
  movesAfter: (_moves: readonly string[]): readonly string[] => [],
  /** The place where it is written which move followed the given one. */
  locks: (_move: string): readonly Lock[] => [],
  /** Writes the head there after a while, where it is newer. */
  follow(_head: Head): void {},
  /** Writes the newest head that it follows now. */
  flush: async (): Promise<void> => {},
  /** The reason why it was not written. */
  problem: (): string | undefined => undefined,
}

/** An object as it is there. */
interface Stored {
  /** The largest that a key of the log signed. */
  readonly head: Head | undefined
  /** The last signed head of each key before the present one. */
  readonly retired: readonly string[]
  /** For the next write. */
  readonly condition: Readonly<Record<string, string>>
}

export function createRemoteMemory({ config, storage, logger }: RemoteMemoryOptions): typeof NONE {
  const { remoteMemory } = config
  if (!remoteMemory) return NONE
  const ask = askStore(remoteMemory)
  /** A read that is slow would otherwise replace what a later write knows. */
  const oneAtATime = pLimit(1)
  const stored = new Map<string, Stored>()
  const followed = new Map<string, string>()
  let newest: Head | undefined
  let writing: Promise<void> | undefined
  let nextAt = 0
  let problem: string | undefined

  async function read(logId: string, keys: readonly SigningKeyRow[]): Promise<Stored> {
    const response = await ask(logId, { method: 'GET' })
    if (response.status === 404) return { head: undefined, retired: [], condition: { 'if-none-match': '*' } }
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    const { head, retired } = signedHeads(await response.text(), logId, keys)
    const etag = response.headers.get('etag')
    if (!etag) throw new Error('it gives objects no ETag')
    if (!head) logger.warn('HEAD_MEMORY has an object that no key of the log signed: the next head replaces it')
    return { head, retired, condition: { 'if-match': etag } }
  }

  /** What another host wrote in between is compared with the log before it is written over: it may be of another branch. */
  async function write(head: Head): Promise<void> {
    const { logId } = head
    const keys = () => storage.read.log.signingKeys()
    const known = stored.get(logId) ?? (await read(logId, await keys()))
    stored.set(logId, known)
    if (known.head && !isBefore(known.head, head)) return
    const next = following(head, known.head)
    const replaced = known.head && retiredBy(next, known.head)
    const retired = replaced === undefined ? known.retired : [...known.retired, replaced]
    const body = [toRecord(next), ...retired].join('\n')
    const response = await ask(logId, { method: 'PUT', body, headers: { ...known.condition } })
    await response.arrayBuffer()
    const etag = response.headers.get('etag')
    const isRefused = response.status === 412 || response.status === 409
    if (!response.ok && !isRefused) throw new Error(`it answers ${response.status}`)
    stored.set(
      logId,
      response.ok && etag ? { head: next, retired, condition: { 'if-match': etag } } : await read(logId, await keys()),
    )
  }

  function writeNewest(): Promise<void> {
    writing ??= oneAtATime(async () => newest && write(newest))
      .then(
        () => {
          if (problem !== undefined) logger.info('HEAD_MEMORY is written again')
          problem = undefined
        },
        (error) => {
          if (problem === undefined) logger.warn({ err: error }, 'cannot write HEAD_MEMORY')
          problem = `HEAD_MEMORY cannot be written: ${reasonOf(error)}`
          if (newest) stored.delete(newest.logId)
        },
      )
      .finally(() => {
        writing = undefined
        nextAt = performance.now() + EVERY_MS
      })
    return writing
  }

  return {
    async load(log) {
      const { logId } = log
      const keys = await storage.read.log.signingKeys()
      try {
        await oneAtATime(async () => stored.set(logId, await read(logId, keys)))
        for (const move of lineageOf(log)) {
          const next = await objectLock(ask, move).read()
          if (next === undefined) followed.delete(move)
          else followed.set(move, next)
        }
      } catch (cause) {
        problem = `HEAD_MEMORY cannot be read: ${reasonOf(cause)}`
        const message = `cannot read HEAD_MEMORY, where hosts remember the last head that they signed: ${reasonOf(cause)}`
        throw new HeadMemoryError('unreadable', message, { cause })
      }
    },
    recall(logId) {
      const head = stored.get(logId)?.head
      return head ? [head] : []
    },
    isThere: (logId) => (stored.has(logId) ? stored.get(logId)!.condition['if-match'] !== undefined : undefined),
    retired: (logId) => stored.get(logId)?.retired ?? [],
    movesAfter: (moves) => moves.flatMap((move) => followed.get(move) ?? []),
    locks: (move) => [objectLock(ask, move)],
    follow(head) {
      newest = head
      const known = stored.get(head.logId)?.head
      const isThere = known !== undefined && !isBefore(known, head)
      if ((!isThere || problem !== undefined) && performance.now() >= nextAt) void writeNewest()
    },
    async flush() {
      await writing
      for (let writes = 0; writes < FLUSH_WRITES; writes++) {
        await writeNewest()
        const known = newest && stored.get(newest.logId)?.head
        // A database that is away keeps no host from ending.
        if (!newest || !(await isOvertaken(newest, known, storage).catch(() => false))) return
      }
    },
    problem: () => problem,
  }
}

/** The store takes the first object of a name alone. */
function objectLock(ask: ReturnType<typeof askStore>, move: string): Lock {
  const name = isClosing(move) ? move : `${move}.next`
  async function find(): Promise<{ move: string | undefined; condition: Record<string, string> }> {
    const found = await ask(name, { method: 'GET' })
    const text = await found.text()
    if (found.status === 404) return { move: undefined, condition: { 'if-none-match': '*' } }
    if (!found.ok) throw new Error(`it answers ${found.status}`)
    return { move: moveIn(text), condition: { 'if-match': found.headers.get('etag') ?? '' } }
  }
  async function write(next: string | null, headers: Record<string, string>): Promise<boolean> {
    const put = await ask(name, { method: 'PUT', body: textOfMove(next), headers })
    await put.arrayBuffer()
    const isRefused = put.status === 412 || put.status === 409
    if (!put.ok && !isRefused) throw new Error(`it answers ${put.status}`)
    return put.ok
  }
  return {
    read: async () => (await find()).move,
    async take(next) {
      const found = await find()
      return found.move === undefined ? write(next, found.condition) : found.move === next
    },
    async release(next) {
      const found = await find()
      if (found.move === next) await write(null, found.condition)
    },
  }
}

/** @returns the places in the object store, if there is one, in which it is written which move followed this one */
export function remoteLocks({ remoteMemory }: Partial<Pick<LogConfig, 'remoteMemory'>>, move: string): readonly Lock[] {
  return remoteMemory ? [objectLock(askStore(remoteMemory), move)] : []
}

function askStore({ url, credentials, basic }: NonNullable<LogConfig['remoteMemory']>) {
  const aws = credentials && new AwsClient({ ...credentials, service: 's3', retries: 0 })
  return async (name: string, init: { method: string; body?: string; headers?: Record<string, string> }) => {
    const headers = { ...init.headers, ...(basic ? { authorization: basic } : {}) }
    const address = `${url}/${name}.json`
    const request = aws ? await aws.sign(address, { ...init, headers }) : new Request(address, { ...init, headers })
    return fetch(request, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  }
}

/** Another host, which may have ended since, wrote an earlier state of the same log. */
async function isOvertaken(
  newest: Head,
  found: Head | undefined,
  { read }: RemoteMemoryOptions['storage'],
): Promise<boolean> {
  if (!found || !isBefore(found, newest)) return false
  const log = await read.log.state()
  return log?.logId === found.logId && includes(log, found, read.log)
}

/** What keys of the log signed of it: the record says more than its signature proves. A database from before a rotation lacks the newest key. */
function signedHeads(text: string, logId: string, keys: readonly SigningKeyRow[]): Pick<Stored, 'head' | 'retired'> {
  const [first = '', ...lines] = text.split('\n')
  const record = fromRecord(first)
  const isProven = (one: unknown): one is string =>
    typeof one === 'string' && headOf(one, logId) !== undefined && isSigned(one, keys)
  const retired = readRetired(lines.join('\n')).filter(isProven)
  const known = [record?.signed, ...retired].filter(isProven).map((signed) => ({ ...headOf(signed, logId)!, signed }))
  const [largest] = known.toSorted((one, other) => other.treeSize - one.treeSize)
  const head = record && largest && { ...record, ...largest, logId, hosts: undefined, memory: undefined }
  return { head, retired }
}

/** Without the address: the text is public. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: { readonly code?: string } }
  if (name === 'TimeoutError') return 'it does not answer'
  return cause?.code ?? (name === 'Error' ? message : 'it cannot be reached')
}
