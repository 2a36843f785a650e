/** Waits for a database that is away when the host starts, or takes long to open. Meanwhile the host listens, so that a probe takes it neither for dead nor for ready. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { createMeters } from '../base/meters.ts'
import type { HostConfig } from '../config/config.ts'
import { createCounters } from '../http/counters.ts'
import { openFrame } from '../http/frame.ts'
import type { App } from '../http/instance.ts'
import { StorageError } from '../storage/storage.ts'
import { openLogger } from './logger.ts'

const PAUSE_MS = 1000
const SLOW_MS = 2000
/** An ordinary start on a busy machine takes some seconds. */
const SAY_SLOW_MS = 10_000
const WAITS = 'the service waits for its database: try again later'
const SLOW = 'the database takes long to open: perhaps a migration runs, here or on another host'

/** @param open is tried again until the database is there @param onWait called with each reason once @throws what `open` throws for another reason */
export async function awaitDatabase<T>(
  config: HostConfig,
  open: () => Promise<T>,
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

  // Opening goes on. An address that cannot be had is an error when the host itself listens.
  const slow = setTimeout(() => void listen().catch(() => undefined), SLOW_MS)
  const verySlow = setTimeout(() => onWait(SLOW), SAY_SLOW_MS)
  function stopTimers(): void {
    clearTimeout(slow)
    clearTimeout(verySlow)
  }
  let isAway = false
  try {
    for (;;) {
      try {
        return await open()
      } catch (error) {
        if (!(error instanceof StorageError && error.mayReturn)) throw error
        stopTimers()
        await listen()
        if (!isAway) onWait(error.message)
        isAway = true
      }
      await pause(PAUSE_MS)
    }
  } finally {
    stopTimers()
    await listening?.catch(() => undefined)
    await room?.close()
  }
}

/** Says nothing of the reason: anybody may read it. Without the database it knows nobody: each network pays for itself. */
function waitingRoom(config: HostConfig): App {
  const { publicUrl, ...options } = config
  const { app } = openFrame({
    ...options,
    ...(publicUrl === undefined ? {} : { publicUrl }),
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
  // Before a body is read.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) notYet(reply).send({ detail: WAITS })
    else done()
  })
  return app
}

function notYet(reply: FastifyReply): FastifyReply {
  return reply.code(503).header('retry-after', '1')
}
