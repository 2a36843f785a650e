/** `claimcheck migrate`: updates the schema of the database. */
import type { Command } from 'commander'
import { loadConfig } from '../../config/config.ts'
import { type OutputOptions, print, subcommand } from '../run.ts'

export function addMigrateCommand(program: Command): void {
  subcommand(program, 'migrate', "update the database to this version's schema").action(
    async (options: OutputOptions) => {
      const { openStorage } = await import('../../storage/open.ts')
      const storage = await openStorage(loadConfig(process.env, process.cwd()))
      await storage.close()
      const lines = storage.migrated.map((name) => `Applied ${name}.`)
      print(options, { migrated: storage.migrated }, lines.length > 0 ? lines : ['The database is up to date.'])
    },
  )
}
