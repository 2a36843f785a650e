/**
 * The open event streams of this host. Events are read once for all streams of a workspace, and one timer serves all: a stream that waits costs memory
 * and little else.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import pLimit from 'p-limit'
import { ServiceError } from '../../base/errors.ts'
import type { Payer } from '../../base/payers.ts'
import { leaveUnmeasured } from '../../http/request-metrics.ts'
import type { EventFeed } from '../events/feed.ts'
import type { EventStreamsConfig } from './config.ts'
import { beat, eventFrame, gapFrame, opening } from './frames.ts'
import { type EventFilter, type EventPage, type EventPages, type NumberedEvent, passes } from './pages.ts'
import { createPlaces, refuse } from './places.ts'

export interface Listener {
  readonly workspaceId: string
  readonly payer: Payer
  /** The number after which the listener goes on; undefined: from now on. */
  readonly after: number | undefined
  readonly filter: EventFilter
  /** A secret text of the credential, and all else that decides whether it may listen. Streams of one text are asked for together. */
  readonly credential: string
  /** True if the question about the credential takes several statements. Those of keys share one. */
  readonly isCostly: boolean
  /** Tells whether the credential may listen now. It is asked again and again: it must keep nothing of the request. */
  readonly mayListen: () => Promise<boolean>
  /** Pays for a further page of stored events. Rejects when the listener has nothing left, which ends the stream. */
  readonly pay: () => Promise<void>
}

/** All streams of one credential. */
interface Access {
  readonly mayListen: () => Promise<boolean>
  readonly streams: Set<Stream>
  /** The time since which nobody answers whether they may listen, by the monotonic clock. */
  unknownSince: number | undefined
}

/** All streams of one workspace. */
interface Hub {
  readonly workspaceId: string
  readonly streams: Set<Stream>
  /** Streams that are opened and not among `streams` yet. */
  opening: number
  /** The number up to which the streams that follow have all events. */
  cursor: number
  readonly isReady: Promise<void>
  unsubscribe(): void
  isDue: boolean
  reading: Promise<void> | undefined
}

interface Stream {
  readonly response: ServerResponse
  readonly hub: Hub
  readonly access: Access
  readonly filter: EventFilter | undefined
  readonly payer: Payer
  readonly isCostly: boolean
  /** The turn of the wheel at which the stream gets its heartbeats. */
  readonly spoke: number
  /** The number up to which the stream has all events. */
  cursor: number
  /** True for a stream that gets new events with all others; before, it reads older ones by itself. */
  follows: boolean
}

interface StreamsParts {
  readonly eventPages: EventPages
  readonly eventFeed: Pick<EventFeed, 'subscribe'>
  readonly config: EventStreamsConfig
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

/** The pause between two turns of the wheel. At each, all credentials are asked for: a revoked one ends within a second. */
const TURN_MS = 750
/** The turns after which a stream gets its next heartbeat: 15 seconds. */
const SPOKES = 20
/** The most bytes that wait for a slow reader. With more its stream is cut, and it goes on where it was. */
const MOST_UNSENT = 64 * 1024
const PAGE = 50
/** The most streams that read stored events at a time, each a page before the next one has its turn. */
const READERS = 2
/** The streams that get a new event before others of the process have their turn. */
const SENT_AT_ONCE = 250
/** The time without an answer about a credential, as in an outage of the database, after which its streams end. */
const LONGEST_UNKNOWN_MS = 10_000
/** The most streams of a host by sessions and tokens, for each of which the database is asked at each turn. */
const MOST_COSTLY = 512

export type EventStreams = ReturnType<typeof createEventStreams>

/** @param turnMs shorter in tests */
export function createEventStreams({ eventPages, eventFeed, config, logger }: StreamsParts, turnMs = TURN_MS) {
  const { most, perWorkspace } = config.eventStreams
  const hubs = new Map<string, Hub>()
  /** Hubs whose last read failed. */
  const failed = new Set<Hub>()
  const accesses = new Map<string, Access>()
  const wheel = Array.from({ length: SPOKES }, () => new Set<Stream>())
  const places = createPlaces(most)
  const costlyPlaces = createPlaces(MOST_COSTLY)
  const reading = pLimit(READERS)
  let turn = 0
  let joined = 0
  let timer: NodeJS.Timeout | undefined
  /** The time of the question about all credentials that is not answered yet. */
  let askedAt: number | undefined
  let isClosing = false

  /** @throws ServiceError `too_many`, `unavailable` */
  function requirePlace({ workspaceId, payer, isCostly }: Listener): void {
    if (isClosing) throw new ServiceError('unavailable', 'this host stops: try again')
    const hub = hubs.get(workspaceId)
    if (hub && perWorkspace > 0 && hub.streams.size + hub.opening >= perWorkspace)
      refuse(`this workspace may have at most ${perWorkspace} open event streams`)
    places.requireFree(payer)
    if (isCostly) costlyPlaces.requireFree(payer)
  }

  function takePlace({ payer, isCostly }: Pick<Listener, 'payer' | 'isCostly'>): void {
    places.take(payer)
    if (isCostly) costlyPlaces.take(payer)
  }

  function leavePlace({ payer, isCostly }: Pick<Listener, 'payer' | 'isCostly'>): void {
    places.leave(payer)
    if (isCostly) costlyPlaces.leave(payer)
  }

  function hubOf(workspaceId: string): Hub {
    const known = hubs.get(workspaceId)
    if (known) return known
    const hub: Hub = {
      workspaceId,
      streams: new Set(),
      opening: 0,
      cursor: 0,
      // New events wake the hub from here on, so that none comes unseen between the first read and them.
      unsubscribe: eventFeed.subscribe(workspaceId, () => readOn(hub)),
      isReady: eventPages.newest(workspaceId).then((newest) => {
        hub.cursor = newest
      }),
      isDue: false,
      reading: undefined,
    }
    hub.reading = hub.isReady.catch(() => {}).finally(() => goOn(hub))
    hubs.set(workspaceId, hub)
    return hub
  }

  function dropIfUnused(hub: Hub): void {
    if (hub.streams.size + hub.opening > 0 || hubs.get(hub.workspaceId) !== hub) return
    hub.unsubscribe()
    hubs.delete(hub.workspaceId)
    failed.delete(hub)
  }

  /** Reads new events, and sends them to all streams that follow. */
  function readOn(hub: Hub): void {
    hub.isDue = true
    hub.reading ??= readAll(hub)
      .catch((error: unknown) => {
        if (hubs.get(hub.workspaceId) === hub) failed.add(hub)
        logger.warn({ err: error }, 'cannot read new events')
      })
      .finally(() => goOn(hub))
  }

  /** Ends a read, and begins the next where events came meanwhile. */
  function goOn(hub: Hub): void {
    hub.reading = undefined
    if (hub.isDue && hub.streams.size > 0) readOn(hub)
  }

  async function readAll(hub: Hub): Promise<void> {
    while (hub.isDue && hub.streams.size > 0) {
      hub.isDue = false
      const page = await eventPages.read(hub.workspaceId, hub.cursor, PAGE)
      if (page.next === hub.cursor) continue
      // A stream that comes to follow during the delivery has these events already: it catches up with this number.
      hub.cursor = page.next
      hub.isDue = true
      await deliver(hub, encode(page))
    }
  }

  async function deliver({ streams }: Hub, page: EncodedPage): Promise<void> {
    let sent = 0
    for (const stream of streams) {
      if (stream.follows) sendPage(stream, page)
      if (++sent % SENT_AT_ONCE === 0) await nextTurn()
    }
  }

  /** Sends stored events until the stream has all that those which follow have. */
  async function catchUp(stream: Stream, pay: () => Promise<void>): Promise<void> {
    const { response, hub } = stream
    for (let pages = 0; !isOver(response); pages++) {
      if (pages > 0) await pay()
      const page = await reading(() => eventPages.read(hub.workspaceId, stream.cursor, PAGE))
      await sendStored(stream, page)
      if (stream.cursor >= hub.cursor) {
        stream.follows = true
        if (hub.streams.delete(stream)) hub.streams.add(stream)
        return
      }
      // The hub knows numbers that the database lost, and finds that out.
      if (page.next === page.after) readOn(hub)
    }
  }

  async function askForAll(): Promise<void> {
    if (askedAt !== undefined) {
      // A database that hangs answers nothing: then nobody knows about anybody.
      if (performance.now() - askedAt > LONGEST_UNKNOWN_MS)
        for (const { streams } of accesses.values()) endAllOf(streams)
      return
    }
    askedAt = performance.now()
    await Promise.all([...accesses.values()].map(ask))
    askedAt = undefined
  }

  async function ask(access: Access): Promise<void> {
    const mayListen = await access.mayListen().catch(() => undefined)
    const now = performance.now()
    if (mayListen === undefined) access.unknownSince ??= now
    else access.unknownSince = undefined
    // Without the database there are no events either, so a short outage ends no stream.
    const isUnknown = now - (access.unknownSince ?? now) > LONGEST_UNKNOWN_MS
    if (mayListen === false || isUnknown) endAllOf(access.streams)
  }

  function onTurn(): void {
    turn = (turn + 1) % SPOKES
    for (const stream of wheel[turn]!) send(stream, beat(stream.cursor))
    for (const hub of failed) {
      failed.delete(hub)
      readOn(hub)
    }
    void askForAll()
  }

  function join(response: ServerResponse, listener: Listener, hub: Hub): Stream {
    const { credential, mayListen, filter, payer, isCostly, after = hub.cursor } = listener
    const access = accesses.get(credential) ?? { mayListen, streams: new Set(), unknownSince: undefined }
    accesses.set(credential, access)
    const isFiltered = Object.values(filter).some(Boolean)
    const stream: Stream = {
      response,
      hub,
      access,
      filter: isFiltered ? filter : undefined,
      payer,
      isCostly,
      // Streams that are opened together get their heartbeats one after the other.
      spoke: joined++ % SPOKES,
      cursor: after,
      follows: after === hub.cursor,
    }
    hub.streams.add(stream)
    access.streams.add(stream)
    wheel[stream.spoke]!.add(stream)
    timer ??= setInterval(onTurn, turnMs).unref()
    leaveOnClose(stream, leave, credential)
    // Events that came while the hub had no stream were not read.
    if (hub.isDue) readOn(hub)
    return stream
  }

  function leave(stream: Stream, credential: string): void {
    const { hub, access, spoke } = stream
    hub.streams.delete(stream)
    access.streams.delete(stream)
    if (access.streams.size === 0 && accesses.get(credential) === access) accesses.delete(credential)
    wheel[spoke]!.delete(stream)
    leavePlace(stream)
    dropIfUnused(hub)
    if (accesses.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /**
     * Answers a request with a stream, for as long as its client stays and may listen.
     * @throws ServiceError `too_many`; `unavailable`; `bad_request` for a request that came before the answer to another one of its connection;
     * StorageError
     */
    async open(reply: FastifyReply, listener: Listener): Promise<FastifyReply> {
      requirePlace(listener)
      // An answer that waits for another one has no connection yet, and never hears that it closed: its stream would never end.
      if (!reply.raw.socket) throw new ServiceError('bad_request', 'an event stream needs a connection of its own')
      const hub = hubOf(listener.workspaceId)
      hub.opening++
      takePlace(listener)
      let stream: Stream | undefined
      try {
        await hub.isReady
        if (isClosing) throw new ServiceError('unavailable', 'this host stops: try again')
        // A client that went meanwhile has told that already: its stream would never end.
        if (!reply.raw.destroyed) stream = join(reply.raw, listener, hub)
      } finally {
        hub.opening--
        if (!stream) {
          leavePlace(listener)
          dropIfUnused(hub)
        }
      }
      reply.hijack()
      if (!stream) return reply
      leaveUnmeasured(reply.request)
      reply.raw.writeHead(200, { ...reply.getHeaders(), ...HEADERS } as Record<string, string>)
      send(stream, opening(stream.cursor))
      if (!stream.follows)
        catchUp(stream, listener.pay).catch((error: unknown) => {
          if (!(error instanceof Error && 'statusCode' in error))
            logger.warn({ err: error }, 'an event stream broke off')
          stream.response.end()
        })
      return reply
    },
    /** Ends all streams, and refuses new ones. */
    endAll(): void {
      isClosing = true
      for (const { streams } of hubs.values()) endAllOf(streams)
    },
    /** Resolves when nothing reads events any more. */
    async idle(): Promise<void> {
      await Promise.all([...hubs.values()].map((hub) => hub.reading))
    },
    get size() {
      return places.size
    },
  }
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Keeps nginx from collecting what it should pass on.
  'x-accel-buffering': 'no',
  // A connection that stayed would delay the end of the service.
  connection: 'close',
}

interface EncodedPage {
  readonly page: EventPage
  /** The bytes for streams without filters. */
  readonly all: Buffer
  readonly frames: readonly string[]
}

function encode(page: EventPage): EncodedPage {
  const frames = page.events.map(eventFrame)
  return { page, frames, all: Buffer.from((page.gap ? gapFrame(page.gap) : '') + frames.join('')) }
}

/** Sends what is new to the stream in a page. */
function sendPage(stream: Stream, { page, all, frames }: EncodedPage): void {
  const { cursor, filter } = stream
  const { after, gap, next } = page
  // Numbers that were set back are told to all: they are less than those that streams have.
  const isSetBack = next < after
  if (!isSetBack && cursor >= next) return
  stream.cursor = next
  if (cursor === after && !filter) {
    send(stream, all)
    return
  }
  const isNew = ({ number, event }: NumberedEvent) => number > cursor && (!filter || passes(event, filter))
  const told = gap && (isSetBack || gap.to > cursor) ? gapFrame(gap) : ''
  send(stream, told + frames.filter((_, index) => isNew(page.events[index]!)).join(''))
}

/** Sends a page as fast as its reader takes it. */
async function sendStored(stream: Stream, { gap, events, next }: EventPage): Promise<void> {
  const { response, filter } = stream
  if (gap) send(stream, gapFrame(gap))
  for (const one of events) {
    if (isOver(response)) return
    if (!filter || passes(one.event, filter)) send(stream, eventFrame(one))
    stream.cursor = one.number
    await drained(response)
  }
  stream.cursor = next
}

function endAllOf(streams: Iterable<Stream>): void {
  for (const { response } of streams) {
    // A reader who takes nothing would keep its place.
    if (response.writableEnded) response.destroy()
    else response.end()
  }
}

function isOver({ destroyed, writableEnded }: ServerResponse): boolean {
  return destroyed || writableEnded
}

function send({ response }: Stream, bytes: string | Buffer): void {
  if (response.writableLength > MOST_UNSENT) response.destroy()
  else if (bytes.length > 0 && !isOver(response)) response.write(bytes)
}

/** Waits until a reader took what was sent, or is cut. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (!response.writableNeedDrain) return resolve()
    const go = () => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.once('drain', go)
    response.once('close', go)
  })
}

/** A function of its own: a closure in `join` would keep all that is in there for as long as the stream is open. */
function leaveOnClose(stream: Stream, leave: (stream: Stream, credential: string) => void, credential: string): void {
  stream.response.once('close', () => leave(stream, credential))
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
