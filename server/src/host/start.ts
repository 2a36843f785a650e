/** Starts and stops the service: HTTP server, workers and what features prepare, in an order in which nothing is lost. */
import type { Server } from 'node:http'
import fastifyPlugin from 'fastify-plugin'
import { listeningUrl } from '../config/address.ts'
import { serversInClear } from '../config/database-url.ts'
import { type Access, buildApp } from '../http/app.ts'
import type { App } from '../http/instance.ts'
import type { TakePort } from './await-database.ts'
import type { HostServices } from './container.ts'
import type { Feature, Listener } from './feature.ts'

export interface RunningServer {
  /** The URL at which the service listens. */
  readonly url: string
  /** Servers of features that listen at addresses of their own. */
  readonly listeners: readonly Listener[]
  /** Stops the service: answers the open requests, finishes the running checks and stores their outcomes. */
  stop(): Promise<void>
}

/**
 * Starts the service.
 * @param takePort gives the open port of a host that waited, if there is one
 * @throws what a feature throws while it prepares; the errors of `listen`
 */
export async function startServer(services: HostServices, takePort?: TakePort): Promise<RunningServer> {
  const { config, logger, ownAddress, features: active } = services
  for (const host of serversInClear(config))
    logger.warn({ host }, 'connections to the database are not encrypted: add sslmode=verify-full to its URL')
  for (const { prepare } of active) await prepare?.(services)
  const app = await createApp(services)
  let listening: string | undefined
  // The URL is remembered, as it is asked for during the close, too, when the service listens no more.
  const url = () => (listening ??= listeningUrl({ host: config.host, port: boundPort(app) }))
  const listeners: Listener[] = []
  async function stop(): Promise<void> {
    const ends = await Promise.allSettled([...listeners.map((listener) => listener.close()), app.close()])
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  try {
    for (const feature of active) await app.register(backgroundWork(feature, services))
    ownAddress.listensAt(url)
    await app.ready()
    await app.listen({ host: config.host, port: config.port, ...openPort(await takePort?.()) })
    for (const { listen } of active) {
      const listener = await listen?.(services)
      if (listener) listeners.push(listener)
    }
  } catch (error) {
    await stop().catch(() => undefined)
    throw error
  }
  for (const { workers } of active) for (const worker of workers?.(services) ?? []) worker.start()
  return { url: url(), listeners, stop }
}

async function createApp(services: HostServices): Promise<App> {
  const { config, counters, meters, tracing, logger, features: active } = services
  const accesses = active.map((feature) => feature.access?.(services) ?? {})
  const securitySchemes = Object.assign({}, ...accesses.map((access) => access.securitySchemes))
  const access = Object.assign({}, ...accesses, { securitySchemes }) as Access
  const routes = await Promise.all(active.map((feature) => feature.routes?.(services) ?? []))
  return buildApp({ ...config, access, routes: routes.flat(), counters, meters, tracing, logger })
}

/**
 * Makes the Fastify plugin of a feature's work. Fastify answers the open requests, and then stops features in the reverse order: those that use
 * others first.
 */
function backgroundWork({ name, needs = [], workers, idle }: Feature, services: HostServices) {
  return fastifyPlugin(
    async (app) => {
      app.addHook('onClose', async () => {
        await Promise.all((workers?.(services) ?? []).map((worker) => worker.stop()))
        await idle?.(services)
      })
    },
    { name, dependencies: [...needs], fastify: '5.x' },
  )
}

/** Makes the options that have a server listen at the port of another one, which gets no more connections (Node's `server.listen(handle)`). */
function openPort(taken: Server | undefined): object {
  return taken ? { handle: (taken as unknown as { readonly _handle: object })._handle } : {}
}

function boundPort(app: App): number {
  return Number(new URL(app.listeningOrigin).port || 80)
}
