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
import type { RemoteMemorySettings } from '../config.ts'
import { includes } from '../log-comparison.ts'
import { headOf, isSigned } from '../signing/signed-heads.ts'
import { idOf } from './folder-memories.ts'
import { following, fromRecord, type Head, isBefore, readRetired, retiredBy, toRecord } from './head-record.ts'
import { HeadMemoryError, isClosing, type Lock, lineageOf, type Memory, moveIn, PASSIVE, textOfMove } from './memory.ts'

interface ObjectMemoryOptions {
  readonly storage: Pick<Storage, 'read'>
  readonly logger?: Pick<FastifyBaseLogger, 'warn' | 'info'> | undefined
}

const EVERY_MS = 5000
const TIMEOUT_MS = 5000
/** Where other hosts write at the same time. */
const CLOSING_WRITES = 5

/** An object as it is there. */
interface Stored {
  /** The largest that a key of the log signed. */
  readonly head: Head | undefined
  /** The last signed head of each key before the present one. */
  readonly retired: readonly string[]
  readonly condition: Condition
}

export function objectMemory(settings: RemoteMemorySettings, { storage, logger }: ObjectMemoryOptions): Memory {
  const store = openStore(settings)
  /** A read that is slow would otherwise replace what a later write knows. */
  const oneAtATime = pLimit(1)
  const stored = new Map<string, Stored>()
  const followed = new Map<string, string | undefined>()
  let newest: Head | undefined
  let writing: Promise<void> | undefined
  let nextAt = 0
  let problem: string | undefined

  async function read(logId: string, keys: readonly SigningKeyRow[]): Promise<Stored> {
    const { text, condition } = await store.read(logId)
    if (text === undefined) return { head: undefined, retired: [], condition }
    const found = signedHeads(text, logId, keys)
    if (!found.head) logger?.warn('HEAD_MEMORY has an object that no key of the log signed: the next head replaces it')
    return { ...found, condition }
  }

  const readAnew = async (logId: string) => read(logId, await storage.read.log.signingKeys())

  /** What another host wrote in between is compared with the log before it is written over: it may be of another branch. */
  async function write(head: Head): Promise<void> {
    const { logId } = head
    const known = stored.get(logId) ?? (await readAnew(logId))
    stored.set(logId, known)
    if (known.head && !isBefore(known.head, head)) return
    const next = following(head, known.head)
    const replaced = known.head && retiredBy(next, known.head)
    const retired = replaced === undefined ? known.retired : [...known.retired, replaced]
    const { condition } = await store.write(logId, [toRecord(next), ...retired].join('\n'), known.condition)
    stored.set(logId, condition ? { head: next, retired, condition } : await readAnew(logId))
  }

  function writeNewest(): Promise<void> {
    writing ??= oneAtATime(async () => newest && write(newest))
      .then(
        () => {
          if (problem !== undefined) logger?.info('HEAD_MEMORY is written again')
          problem = undefined
        },
        (error) => {
          if (problem === undefined) logger?.warn({ err: error }, 'cannot write HEAD_MEMORY')
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

  /** Another host, which may have ended since, wrote an earlier state of the same log. */
  async function isOvertaken(): Promise<boolean> {
    const found = newest && stored.get(newest.logId)?.head
    if (!newest || !found || !isBefore(found, newest)) return false
    const log = await storage.read.log.state()
    return log?.logId === found.logId && includes(log, found, storage.read.log)
  }

  return {
    ...PASSIVE,
    isPrompt: false,
    isApart: true,
    named: {
      id: idOf(settings.url),
      isThere: (logId) => (stored.has(logId) ? stored.get(logId)!.condition['if-match'] !== undefined : undefined),
    },
    async load(log) {
      // Where the database is away, the memory is not: what was asked is asked again.
      const keys = await storage.read.log.signingKeys()
      try {
        await oneAtATime(async () => stored.set(log.logId, await read(log.logId, keys)))
        for (const move of lineageOf(log)) followed.set(move, await lockIn(store, move).read())
      } catch (cause) {
        problem = `HEAD_MEMORY cannot be read: ${reasonOf(cause)}`
        const message = `cannot read HEAD_MEMORY, where hosts remember the last head that they signed: ${reasonOf(cause)}. This host signs as soon as it can be read`
        throw new HeadMemoryError('unreadable', message, cause)
      }
    },
    recall: (logId) => [stored.get(logId)?.head].filter((head) => head !== undefined),
    retired: (logId) => stored.get(logId)?.retired ?? [],
    /** Writes it after a while. */
    remember(head) {
      newest = { ...head, hosts: undefined, memory: undefined }
      const known = stored.get(head.logId)?.head
      const isThere = known !== undefined && !isBefore(known, head)
      if ((!isThere || problem !== undefined) && performance.now() >= nextAt) void writeNewest()
    },
    async close() {
      await writing
      for (let writes = 0; writes < CLOSING_WRITES; writes++) {
        await writeNewest()
        // A database that is away keeps no host from ending.
        if (!(await isOvertaken().catch(() => false))) return
      }
    },
    lock: (move) => lockIn(store, move),
    moveAfter: (move) => followed.get(move),
    problem: () => problem,
  }
}

function lockIn(store: ObjectStore, move: string): Lock {
  const name = isClosing(move) ? move : `${move}.next`
  async function find() {
    const { text, condition } = await store.read(name)
    return { move: text === undefined ? undefined : moveIn(text), condition }
  }
  return {
    read: async () => (await find()).move,
    async take(next) {
      const found = await find()
      if (found.move !== undefined) return found.move === next ? 'had' : undefined
      const { isWritten } = await store.write(name, textOfMove(next), found.condition)
      return isWritten ? 'taken' : undefined
    },
    async release(next) {
      const found = await find()
      if (found.move === next) await store.write(name, textOfMove(null), found.condition)
    },
  }
}

/** Headers under which an object is written over. */
type Condition = Readonly<Record<string, string>>
type ObjectStore = ReturnType<typeof openStore>

function openStore({ url, credentials, basic }: RemoteMemorySettings) {
  const aws = credentials && new AwsClient({ ...credentials, service: 's3', retries: 0 })
  async function ask(name: string, init: { method: string; body?: string; headers?: Record<string, string> }) {
    const headers = { ...init.headers, ...(basic ? { authorization: basic } : {}) }
    const address = `${url}/${name}.json`
    const request = aws ? await aws.sign(address, { ...init, headers }) : new Request(address, { ...init, headers })
    return fetch(request, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  }
  return {
    async read(name: string): Promise<{ readonly text: string | undefined; readonly condition: Condition }> {
      const response = await ask(name, { method: 'GET' })
      const text = await response.text()
      // The store takes the first object of a name alone.
      if (response.status === 404) return { text: undefined, condition: { 'if-none-match': '*' } }
      if (!response.ok) throw new Error(`it answers ${response.status}`)
      const etag = response.headers.get('etag')
      if (!etag) throw new Error('it gives objects no ETag')
      return { text, condition: { 'if-match': etag } }
    },
    /** @returns the condition of the next write; undefined where the object has to be read first, as after another's write */
    async write(name: string, body: string, condition: Condition) {
      const response = await ask(name, { method: 'PUT', body, headers: { ...condition } })
      await response.arrayBuffer()
      const isRefused = response.status === 412 || response.status === 409
      if (!response.ok && !isRefused) throw new Error(`it answers ${response.status}`)
      const etag = response.ok && response.headers.get('etag')
      return { isWritten: response.ok, condition: etag ? { 'if-match': etag } : undefined }
    },
  }
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
