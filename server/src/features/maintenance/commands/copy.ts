/** `claimcheck copy`: copies an installation to another database. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import type { Command } from 'commander'
import { ConfigError, type HostConfig } from '../../../config/config.ts'
import { describeDatabase } from '../../../config/database-url.ts'
import type { LoadConfig, Program } from '../../../host/feature.ts'
import { withProgress } from '../../../host/terminal/progress.ts'
import type { Copied } from '../../../storage/copy.ts'

interface CopyCommandOptions extends OutputOptions {
  readonly from: string
  readonly to: string
}

export function addCopyCommand(program: Command, { loadConfig, schema }: Program): void {
  subcommand(program, 'copy', 'copy an installation to another, empty database')
    .requiredOption('--from <url>', 'the database to copy, written as in DATABASE_URL')
    .requiredOption('--to <url>', 'the database to copy it to')
    .action(async (options: CopyCommandOptions) => {
      const { copyInstallation } = await import('../copy.ts')
      const from = configFor('--from', options.from, loadConfig)
      const to = configFor('--to', options.to, loadConfig)
      const copied = await withProgress('rows', (onProgress) => copyInstallation({ from, to, schema, onProgress }))
      print(options, { copied }, linesOf(copied, from, to))
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

function linesOf(copied: Copied, from: HostConfig, to: HostConfig): string[] {
  const rows = Object.values(copied).reduce((sum, count) => sum + count, 0)
  const [old, next] = [describeDatabase(from.databaseUrl), describeDatabase(to.databaseUrl)]
  return [
    `Copied ${rows} rows, including ${copied.receipts} receipts.`,
    `Next: set DATABASE_URL to ${next}, then run ${typed('doctor')}.`,
    `Never start a server on ${old} again: two servers that append to one log fork it, and anyone who sees both can prove that.`,
    `A host with this DATA_DIR (${to.dataDir}) refuses to start on it. A host with another DATA_DIR cannot know.`,
    'If a server was running during the copy, its newest data is missing: stop it, and copy again to an empty database.',
  ]
}
