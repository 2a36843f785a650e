/**
 * Which hosts have to find in the database what they remember, before one signs there. Each host that runs holds a lease in the database.
 *
 * - After a restart of the server, a promotion or a restore, the log is bound to what the database was before, and no append happens. When
 *   all hosts have compared, or their leases ended, the log is bound to what it is now.
 * - Where the server is another one, and a host that ran is silent, nothing is appended until that is back: it may have signed what this server
 *   lacks, unless a standby was synchronous until then.
 * - A host that does not know the newest state of the log asks, before its first signature, those that run.
 * - A host whose DATA_DIR was cloned from another that runs takes an id of its own.
 * - A database that is a file is bound to that file.
 */
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { Durability } from '../../storage/durability.ts'
import { COMMAND, type LogHost } from '../../storage/log-hosts.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import { type LogAgreement, type Memories, OTHER_DATABASE, type Round } from './agreement.ts'
import type { LogConfig } from './config.ts'
import { createFileBinding } from './file-binding.ts'
import type { HostIdentity } from './memory/host-identity.ts'

interface LogAgreementOptions {
  readonly storage: Pick<Storage, 'read' | 'write' | 'shared' | 'file'>
  readonly hostIdentity: Pick<HostIdentity, 'hostId' | 'process' | 'renew'>
  /** `isSynchronous`: the operator says that a standby that is promoted has all commits. */
  readonly config: Partial<Pick<LogConfig, 'isSynchronous'>>
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

type Beat = Pick<LogHost, 'comparedOn' | 'asked' | 'answered' | 'knows' | 'process'>

export function createLogAgreement({ storage, hostIdentity, config, logger }: LogAgreementOptions): LogAgreement {
  const { shared, file, read, write } = storage
  if (!shared) return createFileBinding(file ?? '', { storage, logger })
  const { logHosts, durability } = shared
  const { isSynchronous = false } = config
  /** To the other hosts; undefined before this host knows whether it has one, 0: it has none, or all have answered. */
  let question: number | undefined
  /** In the time of this process, as all times here. A lease by a database's clock that was set back lasts for ever. */
  let askedAt: number | undefined
  let beat: (Beat & { readonly at: number }) | undefined
  /** A change of the server. */
  let change: { readonly to: string; readonly at: number; readonly aliveAfter: number } | undefined
  /** When the log was last found to be bound, and when a standby was last seen to be synchronous. */
  let boundAt = 0
  let observedAt = Number.NEGATIVE_INFINITY
  let synchronousAt = Number.NEGATIVE_INFINITY
  /** Other hosts that ran before. */
  let peers: ReadonlySet<string> = new Set()
  /** The log of which it is stored on which server it is. */
  let completed: string | undefined

  async function settle({ hosts }: Round, log: LogState, { knowLog, knowNewest }: Memories) {
    parted(hosts)
    const hostId = hostIdentity.hostId()
    const asked = Math.max(0, ...hosts.map((host) => host.asked))
    const others = serversIn(hosts).filter((host) => host.hostId !== hostId)
    question ??= knowNewest || others.length === 0 ? 0 : asked + 1
    if (log.agreedOn === log.answersAs) change = undefined
    else change = changeOf(hosts, log)
    await share({ comparedOn: log.answersAs, knows: knowLog ? log.logId : '' }, asked)
    if (change) return afterChange(change, others, log, knowLog)
    await observe()
    await completeBinding(log)
    peers = livingOf(others)
    return ask(others)
  }

  /** Another process beats with the id of this host: one of both has a copy of the other's DATA_DIR. */
  function parted(hosts: readonly LogHost[]): void {
    const own = hosts.find(({ hostId }) => hostId === hostIdentity.hostId())
    const mine = hostIdentity.process()
    // Until its first beat it may see the process before.
    const isOther = own?.isAlive && ![mine, COMMAND, ''].includes(own.process)
    if (!isOther || mine === COMMAND || !beat) return
    const before = own.hostId
    beat = undefined
    logger.warn(
      { before, now: hostIdentity.renew() },
      'another host runs with a copy of DATA_DIR: this one takes an id of its own',
    )
  }

  /** A log that was made, or bound by an earlier version, does not say on which server: only one that does survives a plain restart. */
  async function completeBinding(log: LogState): Promise<void> {
    if (completed === log.logId) return
    if ((await systemBefore(log)) !== '' || (await bind(log))) completed = log.logId
  }

  async function systemBefore({ logId }: LogState): Promise<string | undefined> {
    return (await read.log.all()).find((log) => log.logId === logId)?.agreedSystem
  }

  /** Sees whether a standby is synchronous, while the server is the one that it was. */
  async function observe(): Promise<void> {
    boundAt = performance.now()
    if (boundAt - observedAt < BEAT_MS) return
    observedAt = boundAt
    const found = await durability().catch(() => undefined)
    if (found) synchronousAt = hasSynchronous(found) ? boundAt : Number.NEGATIVE_INFINITY
  }

  /** Others learn at once what they may wait for, and else that this host runs. */
  async function share(state: Pick<Beat, 'comparedOn' | 'knows'>, asked: number): Promise<void> {
    const own = question ?? 0
    const next = { ...state, process: hostIdentity.process(), asked: own, answered: Math.max(asked, own) }
    const at = performance.now()
    const names = ['comparedOn', 'knows', 'asked', 'answered', 'process'] as const
    if (beat && at - beat.at < BEAT_MS && names.every((name) => beat![name] === next[name])) return
    await logHosts.beat({ ...next, hostId: hostIdentity.hostId() }, LEASE_MS)
    beat = { ...next, at }
  }

  function ask(others: readonly LogHost[]): string | undefined {
    if (!question) return undefined
    const own = question
    const alive = others.filter(({ isAlive }) => isAlive)
    const silent = alive.filter(({ answered }) => answered < own)
    askedAt ??= performance.now()
    const isOver = performance.now() - askedAt > GIVE_UP_MS
    if (beat?.asked === own && silent.length > 0 && !isOver)
      return `this host does not know the newest state of the log: it waits for the answers of ${count(silent)} of ${count(alive)}`
    question = 0
    logger.info(
      { answered: alive.length - silent.length, silent: silent.length, gone: others.length - alive.length },
      'this host did not know the newest state of the log: it asked the other hosts, and none contradicts',
    )
    return undefined
  }

  function changeOf(hosts: readonly LogHost[], { answersAs }: LogState) {
    if (change?.to === answersAs) return change
    // As old as what this host stored last: others that ran then have leases that end about when its own does.
    // Leases that hosts renewed on the server that is there now say nothing of those that have not found it yet.
    const before = hosts.filter(({ comparedOn }) => comparedOn !== answersAs)
    const last = before.find(({ hostId }) => hostId === hostIdentity.hostId())?.until
    const newest = last ?? Math.max(0, ...before.map(({ until }) => until))
    return { to: answersAs, at: performance.now(), aliveAfter: newest - 2 * LEASE_MS }
  }

  async function afterChange(
    { at, aliveAfter }: NonNullable<typeof change>,
    others: readonly LogHost[],
    log: LogState,
    knowLog: boolean,
  ): Promise<string | undefined> {
    const compared = new Set(
      others.filter(({ comparedOn }) => comparedOn === log.answersAs).map(({ hostId }) => hostId),
    )
    const ran = [...others.filter(({ until }) => until > aliveAfter).map(({ hostId }) => hostId), ...peers]
    const silent = [...new Set(ran)].filter((hostId) => !compared.has(hostId))
    const waited = performance.now() - at
    if (silent.length > 0 && waited < GIVE_UP_MS) return waitWords(silent.length, GIVE_UP_MS - waited)
    // What was copied with all rows of its source is bound to nothing.
    if (!knowLog && log.agreedOn !== '') return OTHER_DATABASE
    const system = await systemNow()
    const before = await systemBefore(log)
    const sawSynchronous = boundAt - synchronousAt <= SYNCHRONOUS_MS && at - boundAt <= LONGEST_OUTAGE_MS
    if (silent.length > 0 && !isSameServer(log, before, system) && !sawSynchronous && !isSynchronous) {
      // This server may lack the very row of a host that had just begun.
      const unlisted = silent.filter((id) => !others.some(({ hostId }) => hostId === id))
      for (const hostId of unlisted) await logHosts.note(hostId)
      return lackWords(silent)
    }
    if (!(await bind(log, system))) return 'another host found that something is missing, or has bound the log'
    logger.warn(
      { before, now: system, compared: compared.size + 1, silent: silent.length, ms: Math.round(waited) },
      `${changeWords(before, system)}: all that hosts remember is there, and they sign again`,
    )
    // Asks again as what it is now.
    change = undefined
    peers = livingOf(serversIn(await logHosts.all()))
    return undefined
  }

  const systemNow = async () => (await read.log.system()) ?? ''

  /** False where the database changed again, or another host found that something is missing. */
  async function bind({ logId, answersAs }: LogState, known?: string): Promise<boolean> {
    const system = known ?? (await systemNow())
    return write(async (tx) => {
      const log = await tx.log.lock()
      if (log?.logId !== logId || log.answersAs !== answersAs || log.contradictedBy !== null) return false
      await tx.log.bind(log, answersAs, system)
      return true
    })
  }

  return {
    async begin() {
      const hosts = await logHosts.all()
      const others = livingOf(serversIn(hosts).filter(({ hostId }) => hostId !== hostIdentity.hostId()))
      return {
        hosts,
        isKnownElsewhere: (logId) => hosts.some((host) => host.knows === logId && others.has(host.hostId)),
      }
    },
    settle,
    isBound: ({ agreedOn, answersAs }) => agreedOn === answersAs,
    confirm: (log) => bind(log),
    file: () => undefined,
    async ranBefore({ answersAs }) {
      const before = serversIn(await logHosts.all()).filter(({ comparedOn }) => comparedOn !== answersAs)
      return before.length === 0 ? undefined : before
    },
    async forget(hostId) {
      const { answersAs: comparedOn } = (await read.log.state())!
      const hosts = serversIn(await logHosts.all())
      const silent = hosts.filter((host) => !host.isAlive && host.comparedOn !== comparedOn).map((host) => host.hostId)
      if (!silent.includes(hostId)) throw new ServiceError('not_found', unknownWords(hostId, silent))
      // As one that has compared: those that ran with it know of it without the database.
      await logHosts.beat({ hostId, comparedOn, asked: 0, answered: 0, knows: '', process: '' }, 0)
    },
    leave: () => logHosts.leave(hostIdentity.hostId()),
  }
}

function serversIn(hosts: readonly LogHost[]): readonly LogHost[] {
  return hosts.filter(({ process }) => process !== COMMAND)
}

function livingOf(hosts: readonly LogHost[]): ReadonlySet<string> {
  return new Set(hosts.filter(({ isAlive }) => isAlive).map(({ hostId }) => hostId))
}

function hasSynchronous({ synchronous, synchronousCommit }: Durability): boolean {
  return synchronous > 0 && synchronousCommit !== 'off' && synchronousCommit !== 'local'
}

function isSameServer({ agreedOn, answersAs }: LogState, before: string | undefined, system: string): boolean {
  return system !== '' && system === before && databaseOf(agreedOn) === databaseOf(answersAs)
}

/** Without the time at which the server was started. */
function databaseOf(answersAs: string): string {
  return answersAs.split('/').slice(0, 2).join('/')
}

function waitWords(hosts: number, ms: number): string {
  const others = hosts === 1 ? 'another host has' : `${hosts} other hosts have`
  return `the database was restarted, replaced by a standby, or restored: until ${others} compared it with what they remember, or for ${Math.ceil(ms / 1000)} s, nothing is signed`
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
