/** Waits for a database that is away when the host starts, or takes long to open. Meanwhile the host listens, so that a probe takes it neither for dead nor for ready. */
import { setTimeout as pause } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import type { HostConfig } from '../config/config.ts'
import { StorageError } from '../storage/storage.ts'

const PAUSE_MS = 1000
const SLOW_MS = 2000
const SLOW = 'the database takes long to open: perhaps a migration runs, here or on another host'

/** @param open is tried again until the database is there @param onWait called with each reason once @throws what `open` throws for another reason */
export async function awaitDatabase<T>(
  { host, port }: Pick<HostConfig, 'host' | 'port'>,
  open: () => Promise<T>,
  onWait: (problem: string) => void,
): Promise<T> {
  let room: FastifyInstance | undefined
  let listening: Promise<unknown> | undefined
  function listen(): Promise<unknown> {
    room ??= waitingRoom()
    listening ??= room.listen({ host, port })
    return listening
  }

  const slow = setTimeout(() => {
    // Opening goes on. An address that cannot be had is an error when the host itself listens.
    void listen().then(
      () => onWait(SLOW),
      () => undefined,
    )
  }, SLOW_MS)
  let isAway = false
  try {
    for (;;) {
      try {
        return await open()
      } catch (error) {
        if (!(error instanceof StorageError && error.mayReturn)) throw error
        clearTimeout(slow)
        await listen()
        if (!isAway) onWait(error.message)
        isAway = true
      }
      await pause(PAUSE_MS)
    }
  } finally {
    clearTimeout(slow)
    await listening?.catch(() => undefined)
    await room?.close()
  }
}

/** Says nothing of the reason: anybody may read it. */
function waitingRoom() {
  const app = fastify({ forceCloseConnections: true })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.all('/*', async (request, reply) => {
    const detail = 'the service waits for its database: try again later'
    reply.code(503).header('retry-after', '1')
    return request.url.startsWith('/readyz') ? { ok: false, problems: [detail], warnings: [] } : { detail }
  })
  return app
}
