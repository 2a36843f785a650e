/** Waits for a database that is away when the host starts. Meanwhile the host listens, so that nobody takes it for dead or ready. */
import { setTimeout } from 'node:timers/promises'
import fastify from 'fastify'
import type { HostConfig } from '../config/config.ts'
import { StorageError } from '../storage/storage.ts'

const PAUSE_MS = 1000

/** @param open is tried again until the database is there @param onWait called once @throws what `open` throws for another reason */
export async function awaitDatabase<T>(
  { host, port }: Pick<HostConfig, 'host' | 'port'>,
  open: () => Promise<T>,
  onWait: (problem: string) => void,
): Promise<T> {
  let problem = ''
  async function tryToOpen(): Promise<T | undefined> {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof StorageError && error.mayReturn)) throw error
      problem = error.message
      return undefined
    }
  }

  const opened = await tryToOpen()
  if (opened) return opened
  const waiting = waitingRoom()
  await waiting.listen({ host, port })
  onWait(problem)
  try {
    for (;;) {
      await setTimeout(PAUSE_MS)
      const opened = await tryToOpen()
      if (opened) return opened
    }
  } finally {
    await waiting.close()
  }
}

/** Says nothing of the reason: anybody may read it. */
function waitingRoom() {
  const app = fastify({ forceCloseConnections: true })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.all('/*', async (request, reply) => {
    const detail = 'the database cannot be reached yet: try again later'
    reply.code(503).header('retry-after', '1')
    return request.url.startsWith('/readyz') ? { ok: false, problems: [detail], warnings: [] } : { detail }
  })
  return app
}
