/** `claimcheck copy`: copies an installation to another database. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import type { Command } from 'commander'
import { ConfigError, type HostConfig } from '../../../config/config.ts'
import { describeDatabase } from '../../../config/database-url.ts'
import type { LoadConfig, Program, WithServices } from '../../../host/feature.ts'
import { withProgress } from '../../../host/terminal/progress.ts'
import { type ClosingServices, logCloser } from '../../log/closing.ts'

export function addCopyCommand(
  program: Command,
  withServices: WithServices<ClosingServices>,
  { loadConfig, schema }: Program,
): void {
  subcommand(program, 'copy', 'move an installation to another, empty database: its log is closed where it was')
    .requiredOption('--from <url>', 'the database to copy, written as in DATABASE_URL')
    .requiredOption('--to <url>', 'the database to copy it to')
    .action(async (options: OutputOptions & { readonly from: string; readonly to: string }) => {
      const { copyInstallation } = await import('../copy.ts')
      const from = configFor('--from', options.from, loadConfig)
      const to = configFor('--to', options.to, loadConfig)
      // The plugin of the anchors knows whether the database is an old one.
      const source = { plugins: true, env: { DATABASE_URL: options.from } }
      const close = logCloser((work) => withServices(work, source))
      const copied = await withProgress('rows', (onProgress) =>
        copyInstallation({ from, to, schema, close, onProgress }),
      )
      const rows = Object.values(copied).reduce((sum, count) => sum + count, 0)
      const [old, next] = [from, to].map(({ databaseUrl }) => describeDatabase(databaseUrl))
      print(options, { copied }, [
        `Copied ${rows} rows, including ${copied.receipts} receipts.`,
        `Next: set DATABASE_URL to ${next}, then run ${typed('doctor')}.`,
        `The log goes on there, and is closed on ${old} for good: hosts serve it, and sign nothing. Stop them.`,
      ])
    })
}

/** The configuration of this environment with another database. @throws ConfigError */
function configFor(option: string, url: string, loadConfig: LoadConfig): HostConfig {
  try {
    return loadConfig({ ...process.env, DATABASE_URL: url })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.problems.map((problem) => problem.replace(/^DATABASE_URL:/, `${option}:`)))
  }
}
