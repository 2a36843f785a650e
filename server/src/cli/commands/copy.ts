/** `claimcheck copy` */
import type { Command } from 'commander'
import { type Config, ConfigError, loadConfig } from '../../config/config.ts'
import { describeDatabase } from '../../config/database-url.ts'
import type { Copied, CopyProgress } from '../../storage/copy.ts'
import { startProgress } from '../progress.ts'
import { type OutputOptions, print, subcommand } from '../run.ts'

interface CopyCommandOptions extends OutputOptions {
  readonly from: string
  readonly to: string
}

export function addCopyCommand(program: Command): void {
  subcommand(program, 'copy', 'copy an installation to another database, which must be empty')
    .requiredOption('--from <url>', 'the database that it is in, as DATABASE_URL names it')
    .requiredOption('--to <url>', 'the database to copy it to')
    .action(async (options: CopyCommandOptions) => {
      const { copyInstallation } = await import('../../upkeep/copy.ts')
      const from = configFor('--from', options.from)
      const to = configFor('--to', options.to)
      const copied = await withProgress((onProgress) => copyInstallation({ from, to, onProgress }))
      print(options, { copied }, linesOf(copied, from, to))
    })
}

async function withProgress<T>(work: (onProgress: CopyProgress) => Promise<T>): Promise<T> {
  const progress = startProgress('rows')
  try {
    return await work(progress.update)
  } finally {
    progress.stop()
  }
}

/** The environment's, with another database. @throws ConfigError */
function configFor(option: string, url: string): Config {
  try {
    return loadConfig({ ...process.env, DATABASE_URL: url }, process.cwd())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.problems.map((problem) => problem.replace(/^DATABASE_URL:/, `${option}:`)))
  }
}

function linesOf(copied: Copied, from: Config, to: Config): string[] {
  const rows = Object.values(copied).reduce((sum, count) => sum + count, 0)
  const [old, next] = [describeDatabase(from.databaseUrl), describeDatabase(to.databaseUrl)]
  return [
    `Copied ${rows} rows, ${copied.receipts} receipts among them.`,
    `Next: set DATABASE_URL to ${next}, and run npx claimcheck doctor.`,
    `Start no server on ${old} again: two that append to one log fork it, and anyone who sees both can prove that.`,
    `A host with this DATA_DIR (${to.dataDir}) would refuse to; one with another would not know.`,
    'If a server ran meanwhile, what it has done since is not in the copy: stop it, and copy once more to an empty database.',
  ]
}
