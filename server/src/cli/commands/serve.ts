/** `claimcheck serve`: runs the service until it is stopped. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import type { Command } from 'commander'
import { VERSION } from '../../base/version.ts'
import { publicAddress } from '../../config/address.ts'
import { describeDatabase } from '../../config/database-url.ts'
import { writeFirstConfig } from '../../config/first-config.ts'
import { loadConfig } from '../../features.ts'
import type { RunningServer } from '../../host/start.ts'
import { logStrayErrors } from '../../plugins/stray-errors.ts'
import { paths } from '../../web/console-paths.ts'

export function addServeCommand(program: Command): void {
  subcommand(program, 'serve', 'run the service').action(async (options: OutputOptions) => {
    const [{ openClaimcheck }, { awaitDatabase }, { startServer }] = await Promise.all([
      import('../../claimcheck.ts'),
      import('../../host/await-database.ts'),
      import('../../host/start.ts'),
    ])
    const written = writeFirstConfig(process.env, process.cwd())
    const config = loadConfig(process.env, process.cwd())
    const { claimcheck, server, setupToken } = await awaitDatabase(
      config,
      async (takePort) => {
        const claimcheck = await openClaimcheck(config, { plugins: true })
        let server: RunningServer | undefined
        try {
          server = await startServer(claimcheck, takePort)
          return { claimcheck, server, setupToken: await claimcheck.accounts.setupToken() }
        } catch (error) {
          await server?.stop()
          // Their processes would keep this one alive.
          await Promise.allSettled(claimcheck.registry.plugins.map(({ parts }) => parts.close()))
          await claimcheck.close()
          throw error
        }
      },
      (problem) => writeError(`${problem}\nWaiting for the database. Meanwhile /readyz answers 503.\n`),
    )

    logStrayErrors(claimcheck.registry.plugins, claimcheck.logger)
    const stop = once(async (signal: string) => {
      claimcheck.logger.info({ signal }, 'stopping: finishing what is under way')
      await server.stop()
      await claimcheck.close()
    })
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)

    const { registry, storage } = claimcheck
    // With PORT=0 the port is known only now.
    const address = publicAddress({ ...config, port: Number(new URL(server.url).port || 80) })
    const setupUrl = setupToken && address + paths.setup(setupToken)
    const actions = registry.profiles().map(({ action }) => action)
    const urls = {
      url: server.url,
      ...Object.fromEntries(server.listeners.map(({ name, url }) => [`${name}_url`, url])),
      ...(setupUrl ? { setup_url: setupUrl } : {}),
    }
    print(options, urls, [
      `Claimcheck ${VERSION} is running on ${server.url}`,
      `  database  ${describeDatabase(config.databaseUrl)}, by ${storage.driver}`,
      `  verifies  ${actions.join(', ') || 'nothing: no plugin is configured'}`,
      `  docs      ${address}/docs`,
      `  console   ${address}${paths.home}`,
      ...server.listeners.map(({ name, url }) => `  ${name.padEnd(8)}  ${url}`),
      ...(written ? [`  written   ${written}, which names the plugins`] : []),
      ...(setupUrl ? ['Next: open this link to become the owner. It works once, for 24 hours:', `  ${setupUrl}`] : []),
    ])
  })
}

/** Ignores later calls: a second SIGTERM does not interrupt the shutdown. */
function once(work: (signal: string) => Promise<void>) {
  let called = false
  return (signal: string) => {
    if (called) return
    called = true
    void work(signal)
  }
}
