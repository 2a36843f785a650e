/**
 * Which hosts have to find in the database what they remember, before one signs there. Each host that runs holds a lease in the database.
 *
 * - After a restart of the server, a promotion or a restore, the log is bound to what the database was before, and no append happens. When
 *   all hosts have compared, or their leases ended, the log is bound to what it is now.
 * - Where the server is another one, and a host that ran is silent, nothing is appended until that is back: it may have signed what this server
 *   lacks, unless a standby was synchronous until then.
 * - A host that does not know the newest state of the log asks, before its first signature, those that run.
 * - A database that is a file is bound to that file.
 */
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Durability } from '../../storage/durability.ts'
import type { LogHost } from '../../storage/log-hosts.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import { type LogAgreement, type Memories, OTHER_DATABASE, type Round } from './agreement.ts'
import type { LogConfig } from './config.ts'
import { createFileBinding } from './file-binding.ts'
import { hostIdIn } from './signing/checkpoint-store.ts'

interface LogAgreementOptions {
  readonly storage: Pick<Storage, 'read' | 'write' | 'shared' | 'file'>
  readonly config: Pick<HostConfig, 'dataDir'> & Partial<Pick<LogConfig, 'isSynchronous'>>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

const BEAT_MS = 3000
const LEASE_MS = 10_000
/** A host may take as long to give up a connection that leads nowhere, and to find the server that is there now. */
const GIVE_UP_MS = 20_000
/** Before a loss: an observation that is older says nothing of the standby that was promoted. */
const SYNCHRONOUS_MS = 10_000
/** From the last contact with the server to the one that replaces it: in a longer one others may have gone on without a standby. */
const LONGEST_OUTAGE_MS = 120_000

export function createLogAgreement({ storage, config, logger }: LogAgreementOptions): LogAgreement {
  const { shared, file } = storage
  if (!shared) return createFileBinding(file ?? '', { storage, logger })
  const agreement: Agreement = {
    storage,
    logger,
    shared,
    hostId: hostIdIn(config.dataDir),
    question: undefined,
    askedAt: undefined,
    beat: undefined,
    change: undefined,
    isSynchronous: config.isSynchronous ?? false,
    boundAt: 0,
    observedAt: Number.NEGATIVE_INFINITY,
    synchronousAt: Number.NEGATIVE_INFINITY,
    peers: new Set(),
    completed: undefined,
  }
  return {
    async begin() {
      const hosts = await shared.logHosts.all()
      const others = hosts.filter(({ hostId, isAlive }) => isAlive && hostId !== agreement.hostId)
      return { hosts, isKnownElsewhere: (logId) => others.some(({ knows }) => knows === logId) }
    },
    settle: (round, log, memories) => settle(agreement, round, log, memories),
    isBound: ({ agreedOn, answersAs }) => agreedOn === answersAs,
    confirm: (log) => bind(agreement, log),
    file: () => undefined,
    async ranBefore({ answersAs }) {
      const before = (await shared.logHosts.all()).filter(({ comparedOn }) => comparedOn !== answersAs)
      return before.length === 0 ? undefined : before.map(({ hostId }) => hostId)
    },
    async forget(hostId) {
      const { answersAs: comparedOn } = (await storage.read.log.state())!
      const hosts = await shared.logHosts.all()
      const silent = hosts.filter((host) => !host.isAlive && host.comparedOn !== comparedOn).map((host) => host.hostId)
      if (!silent.includes(hostId)) throw new ServiceError('not_found', unknownWords(hostId, silent))
      // As one that has compared: those that ran with it know of it without the database.
      await shared.logHosts.beat({ hostId, comparedOn, asked: 0, answered: 0, knows: '' }, 0)
    },
    leave: () => shared.logHosts.leave(agreement.hostId),
  }
}

interface Agreement extends Omit<LogAgreementOptions, 'config'> {
  readonly shared: NonNullable<Storage['shared']>
  readonly hostId: string
  /** To the other hosts; undefined before this host knows whether it has one, 0: it has none, or all have answered. */
  question: number | undefined
  /** In the time of this process. A lease by a database's clock that was set back lasts for ever. */
  askedAt: number | undefined
  beat:
    | (Pick<LogHost, 'comparedOn' | 'asked' | 'answered' | 'knows'> & {
        /** In the time of this process. */
        readonly at: number
      })
    | undefined
  /** Of the server. */
  change: { readonly to: string; readonly at: number; readonly aliveAfter: number } | undefined
  /** As the operator says. */
  readonly isSynchronous: boolean
  /** When the log was last found to be bound, and when a standby was last seen to be synchronous, in the time of this process. */
  boundAt: number
  observedAt: number
  synchronousAt: number
  /** Other hosts that ran before. */
  peers: ReadonlySet<string>
  /** The log of which it is stored on which server it is. */
  completed: string | undefined
}

async function settle(
  agreement: Agreement,
  { hosts }: Round,
  log: LogState,
  { knowLog, knowNewest }: Memories,
): Promise<string | undefined> {
  const asked = Math.max(0, ...hosts.map((host) => host.asked))
  const others = hosts.filter(({ hostId }) => hostId !== agreement.hostId)
  agreement.question ??= knowNewest || others.length === 0 ? 0 : asked + 1
  const change = log.agreedOn === log.answersAs ? undefined : changeOf(agreement, hosts, log)
  await share(agreement, { comparedOn: log.answersAs, knows: knowLog ? log.logId : '' }, asked)
  if (change) return afterChange(agreement, change, others, log, knowLog)
  await observe(agreement)
  await completeBinding(agreement, log)
  agreement.change = undefined
  agreement.peers = new Set(others.filter(({ isAlive }) => isAlive).map(({ hostId }) => hostId))
  return ask(agreement, others)
}

/** A log that was made, or bound by an earlier version, does not say on which server: only one that does survives a plain restart. */
async function completeBinding(agreement: Agreement, log: LogState): Promise<void> {
  if (agreement.completed === log.logId) return
  const before = await systemBefore(agreement, log)
  if (before !== '' || (await bind(agreement, log))) agreement.completed = log.logId
}

async function systemBefore({ storage }: Agreement, { logId }: LogState): Promise<string | undefined> {
  return (await storage.read.log.all()).find((log) => log.logId === logId)?.agreedSystem
}

/** Sees whether a standby is synchronous, while the server is the one that it was. */
async function observe(agreement: Agreement): Promise<void> {
  agreement.boundAt = performance.now()
  if (agreement.boundAt - agreement.observedAt < BEAT_MS) return
  agreement.observedAt = agreement.boundAt
  const durability = await agreement.shared.durability().catch(() => undefined)
  if (durability) agreement.synchronousAt = hasSynchronous(durability) ? agreement.boundAt : Number.NEGATIVE_INFINITY
}

function hasSynchronous({ synchronous, synchronousCommit }: Durability): boolean {
  return synchronous > 0 && synchronousCommit !== 'off' && synchronousCommit !== 'local'
}

/** Others learn at once what they may wait for, and else that this host runs. */
async function share(agreement: Agreement, state: Pick<LogHost, 'comparedOn' | 'knows'>, asked: number): Promise<void> {
  const { shared, hostId, beat, question = 0 } = agreement
  const next = { ...state, at: performance.now(), asked: question, answered: Math.max(asked, question) }
  const isNews = (['comparedOn', 'knows', 'asked', 'answered'] as const).some((name) => beat?.[name] !== next[name])
  if (beat && !isNews && next.at - beat.at < BEAT_MS) return
  await shared.logHosts.beat({ ...next, hostId }, LEASE_MS)
  agreement.beat = next
}

function ask(agreement: Agreement, others: readonly LogHost[]): string | undefined {
  const { question = 0, beat, logger } = agreement
  if (question === 0) return undefined
  const alive = others.filter(({ isAlive }) => isAlive)
  const silent = alive.filter(({ answered }) => answered < question)
  agreement.askedAt ??= performance.now()
  const isOver = performance.now() - agreement.askedAt > GIVE_UP_MS
  if (beat?.asked === question && silent.length > 0 && !isOver)
    return `this host does not know the newest state of the log: it waits for the answers of ${count(silent)} of ${count(alive)}`
  agreement.question = 0
  logger.info(
    { answered: alive.length - silent.length, silent: silent.length, gone: others.length - alive.length },
    'this host did not know the newest state of the log: it asked the other hosts, and none contradicts',
  )
  return undefined
}

function changeOf(agreement: Agreement, hosts: readonly LogHost[], { answersAs }: LogState) {
  if (agreement.change?.to === answersAs) return agreement.change
  // As old as what this host stored last: others that ran then have leases that end about when its own does.
  // Leases that hosts renewed on the server that is there now say nothing of those that have not found it yet.
  const before = hosts.filter(({ comparedOn }) => comparedOn !== answersAs)
  const last = before.find(({ hostId }) => hostId === agreement.hostId)?.until
  const newest = last ?? Math.max(0, ...before.map(({ until }) => until))
  agreement.change = { to: answersAs, at: performance.now(), aliveAfter: newest - 2 * LEASE_MS }
  return agreement.change
}

async function afterChange(
  agreement: Agreement,
  { at, aliveAfter }: NonNullable<Agreement['change']>,
  others: readonly LogHost[],
  log: LogState,
  knowLog: boolean,
): Promise<string | undefined> {
  const { peers, shared, logger } = agreement
  const compared = others.filter(({ comparedOn }) => comparedOn === log.answersAs)
  const ids = new Set([...others.filter(({ until }) => until > aliveAfter).map(({ hostId }) => hostId), ...peers])
  for (const { hostId } of compared) ids.delete(hostId)
  const waited = performance.now() - at
  if (ids.size > 0 && waited < GIVE_UP_MS) {
    const seconds = Math.ceil((GIVE_UP_MS - waited) / 1000)
    return `the database was restarted, replaced by a standby, or restored: until ${ids.size === 1 ? 'another host has' : `${ids.size} other hosts have`} compared it with what they remember, or for ${seconds} s, nothing is signed`
  }
  // What was copied with all rows of its source is bound to nothing.
  if (!knowLog && log.agreedOn !== '') return OTHER_DATABASE
  const system = await systemOf(agreement)
  const before = await systemBefore(agreement, log)
  const sawSynchronous =
    agreement.boundAt - agreement.synchronousAt <= SYNCHRONOUS_MS && at - agreement.boundAt <= LONGEST_OUTAGE_MS
  const mayLack = system === '' || system !== before || databaseOf(log.agreedOn) !== databaseOf(log.answersAs)
  if (ids.size > 0 && mayLack && !sawSynchronous && !agreement.isSynchronous) {
    // This server may lack the very row of a host that had just begun.
    for (const id of ids) if (!others.some(({ hostId }) => hostId === id)) await shared.logHosts.note(id)
    return lackWords([...ids])
  }
  if (!(await bind(agreement, log, system))) return 'another host found that something is missing, or has bound the log'
  logger.warn(
    { before, now: system, compared: compared.length + 1, silent: ids.size, ms: Math.round(waited) },
    `${changeWords(before, system)}: all that hosts remember is there, and they sign again`,
  )
  // Asks again as what it is now.
  agreement.change = undefined
  agreement.peers = new Set((await shared.logHosts.all()).filter(({ isAlive }) => isAlive).map(({ hostId }) => hostId))
  return undefined
}

async function systemOf({ storage }: Agreement): Promise<string> {
  return (await storage.read.log.system()) ?? ''
}

/** False where the database changed again, or another host found that something is missing. */
async function bind(agreement: Agreement, { logId, answersAs }: LogState, known?: string): Promise<boolean> {
  const system = known ?? (await systemOf(agreement))
  return agreement.storage.write(async (tx) => {
    const log = await tx.log.lock()
    if (log?.logId !== logId || log.answersAs !== answersAs || log.contradictedBy !== null) return false
    await tx.log.bind(log, answersAs, system)
    return true
  })
}

/** Without the time at which the server was started. */
function databaseOf(answersAs: string): string {
  return answersAs.split('/').slice(0, 2).join('/')
}

function lackWords(hosts: readonly string[]): string {
  return `the database is on another server, or was restored, and may lack what hosts signed that ran and are silent: ${hosts.join(', ')}. Start them again. Where one is gone for good, and this is the newest database, run claimcheck log forget-host with its id. Otherwise restore the newest database, or begin another log with: claimcheck log new`
}

function unknownWords(hostId: string, silent: readonly string[]): string {
  const there =
    silent.length === 0 ? 'there is none' : `there ${silent.length === 1 ? 'is' : 'are'} ${silent.join(', ')}`
  return `nothing was done: ${hostId} is no host that ran and is silent since the database changed: ${there}`
}

/** By the system's identifier and its timeline. */
function changeWords(before = '', now: string): string {
  const [[system, timeline], [newSystem, newTimeline]] = [before.split('/'), now.split('/')]
  if (before === '' || now === '') return 'the database was restarted, replaced or restored'
  if (system !== newSystem) return 'the database is on another server'
  if (timeline === newTimeline) return 'the database was restarted, or restored from a dump'
  return `a standby was promoted, or the database restored to a point in time: its timeline was ${timeline}, and is ${newTimeline}`
}

function count(hosts: readonly LogHost[]): string {
  return `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}`
}
