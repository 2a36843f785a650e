/** `claimcheck serve`: runs the service until it is stopped. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import type { Command } from 'commander'
import { endInOrder } from '../../base/ending.ts'
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
        const signals = watchSignals()
        let starting: Promise<RunningServer> | undefined
        const end = () => endInOrder(async () => (await starting?.catch(() => undefined))?.stop(), claimcheck.close)
        try {
          starting = startServer(claimcheck, async () => {
            // A stop before the service listens has nothing to finish.
            signals.begin((signal) => {
              claimcheck.logger.info({ signal }, 'stopping: finishing what is under way')
              return end()
            })
            return takePort()
          })
          return { claimcheck, server: await starting, setupToken: await claimcheck.accounts.setupToken() }
        } catch (error) {
          // A failure during a stop does not start the service again.
          if (await signals.stopped()) process.exit(0)
          await end().catch(() => undefined)
          signals.end()
          throw error
        }
      },
      (problem) => writeError(`${problem}\nWaiting for the database. Meanwhile /readyz answers 503.\n`),
    )
    logStrayErrors(claimcheck.registry.plugins, claimcheck.logger)

    const { registry, storage } = claimcheck
    // With PORT=0 the port is known only now.
    const address = publicAddress({ ...config, port: Number(new URL(server.url).port || 80) })
    const setupUrl = setupToken && address + paths.setup(setupToken)
    const actions = registry.profiles().map(({ action }) => action)
    const listening = Object.fromEntries(server.listeners.map(({ name, url }) => [`${name}_url`, url]))
    print(options, { url: server.url, ...listening, setup_url: setupUrl }, [
      `Claimcheck ${VERSION} is running on ${server.url}`,
      `  database  ${describeDatabase(config.databaseUrl)}, by ${storage.driver}`,
      `  verifies  ${actions.join(', ') || 'nothing: no plugin is configured'}`,
      `  docs      ${address}/docs`,
      `  console   ${address}${paths.home}`,
      ...server.listeners.map(({ name, url }) => `  ${name.padEnd(8)}  ${url}`),
      ...(config.allowPrivate.length > 0
        ? [
            `  private   every owner of a workspace can have ${config.allowPrivate.join(', ')} read, which ALLOW_PRIVATE or allow_private names`,
          ]
        : []),
      ...(written ? [`  written   ${written}, which names the plugins`] : []),
      ...(setupUrl ? ['Next: open this link to become the owner. It works once, for 24 hours:', `  ${setupUrl}`] : []),
    ])
  })
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Watches for signals that stop the service in order. A second signal does not interrupt the stop. */
function watchSignals() {
  let stopping: Promise<void> | undefined
  let listener: ((signal: string) => void) | undefined
  return {
    begin(stop: (signal: string) => Promise<void>) {
      listener = (signal) => {
        stopping ??= stop(signal)
      }
      for (const signal of SIGNALS) process.on(signal, listener)
    },
    end() {
      if (listener) for (const signal of SIGNALS) process.off(signal, listener)
    },
    /** Waits for a stop that a signal began; false where no signal came. */
    async stopped(): Promise<boolean> {
      await stopping
      return stopping !== undefined
    },
  }
}
