/**
 * Waits at the start for a database that is away or takes long to open, and for space on a full disk. Meanwhile the host listens, so that a probe
 * takes it neither for dead nor for ready.
 */
import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { createMeters } from '../base/meters.ts'
import type { HostConfig } from '../config/config.ts'
import { createCounters } from '../http/counters.ts'
import { openFrame } from '../http/frame.ts'
import type { App } from '../http/instance.ts'
import { StorageError } from '../storage/storage.ts'
import { openLogger } from './logger.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000
const SLOW_MS = 2000
/** The time in which open requests to the waiting server get their answers. */
const LAST_ANSWERS_MS = 1000
/** The time after which a start counts as slow. On a busy machine an ordinary one takes some seconds. */
const SAY_SLOW_MS = 10_000
const WAITS = 'the service waits for its database: try again later'
const SLOW = 'the database takes long to open: perhaps a migration runs, here or on another host'

/** Ends the answers of the waiting server, and hands over its port open, so that nobody is refused meanwhile; undefined where it has none. */
export type TakePort = () => Promise<Server | undefined>

/**
 * Starts a service once its database is there.
 * @param start is tried again until the database is there, after pauses that grow to ten seconds
 * @param onWait called with each reason once
 * @throws what `start` throws for another reason than a database that is away or a disk that is full
 */
export async function awaitDatabase<T>(
  config: HostConfig,
  start: (takePort: TakePort) => Promise<T>,
  onWait: (problem: string) => void,
): Promise<T> {
  const { host, port } = config
  let room: App | undefined
  let listening: Promise<unknown> | undefined
  function listen(): Promise<unknown> {
    room ??= waitingRoom(config)
    listening ??= room.listen({ host, port })
    return listening
  }
  async function endRoom(keepsPort = false): Promise<Server | undefined> {
    for (const timer of timers) clearTimeout(timer)
    await listening?.catch(() => undefined)
    const ended = room
    room = listening = undefined
    // Several servers listen at the addresses of localhost.
    if (keepsPort && ended?.server.listening && host !== 'localhost') {
      setTimeout(() => ended.server.closeAllConnections(), LAST_ANSWERS_MS).unref()
      return ended.server
    }
    await ended?.close()
    return undefined
  }

  const timers = [
    // Opening goes on meanwhile. Failure to listen here is ignored: the host itself reports it when it listens.
    setTimeout(() => void listen().catch(() => undefined), SLOW_MS),
    setTimeout(() => onWait(SLOW), SAY_SLOW_MS),
  ]
  const said = new Set<string>()
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(1.5 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await start(() => endRoom(true))
      } catch (error) {
        const problem = waitingReason(error)
        if (problem === undefined) throw error
        for (const timer of timers) clearTimeout(timer)
        await listen()
        if (!said.has(problem)) onWait(problem)
        said.add(problem)
      }
      await pause(pauseMs)
    }
  } finally {
    await endRoom()
  }
}

/**
 * Finds the reason for which another attempt may help: the database is away, or a disk is full. Features may wrap errors of the database in their
 * own.
 */
function waitingReason(error: unknown): string | undefined {
  const { code, cause, message } = error as NodeJS.ErrnoException
  if ((error instanceof StorageError && error.mayReturn) || code === 'ENOSPC' || code === 'EDQUOT') return message
  return cause === undefined ? undefined : waitingReason(cause)
}

/**
 * Opens the server that answers meanwhile. It does not tell the reason, which anybody could read. Without the database it knows no accounts, so that
 * each network pays for itself.
 */
function waitingRoom(config: HostConfig): App {
  const { app } = openFrame({
    ...config,
    counters: createCounters({ storage: { shared: undefined }, now: Date.now }),
    meters: createMeters(),
    logger: openLogger(config).logger,
    endsAtOnce: true,
  })
  app.get('/healthz', { config: { cost: 'small', isProbe: true } }, async () => ({ status: 'ok' }))
  for (const path of ['/readyz', '/readyz/read']) {
    app.get(path, { config: { cost: 'small', isProbe: true } }, async (_request, reply) =>
      notYet(reply).send({ ok: false, problems: [WAITS], warnings: [] }),
    )
  }
  // Each answer ends its connection, so that clients reach the service as soon as there is one.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('connection', 'close')
    done()
  })
  // Refuses requests before a body is read.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) notYet(reply).send({ detail: WAITS })
    else done()
  })
  return app
}

function notYet(reply: FastifyReply): FastifyReply {
  return reply.code(503).header('retry-after', '1')
}
