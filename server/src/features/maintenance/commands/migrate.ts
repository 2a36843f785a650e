/** `claimcheck migrate`: updates the schema of the database. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import type { Program } from '../../../host/feature.ts'

export function addMigrateCommand(commands: Command, { loadConfig, schema }: Program): void {
  subcommand(commands, 'migrate', "update the database to this version's schema").action(
    async (options: OutputOptions) => {
      const { openStorage } = await import('../../../storage/open.ts')
      const storage = await openStorage(loadConfig(process.env), { schema })
      if (storage.migrated.length > 0) {
        const details = { migrations: storage.migrated.join(' ') }
        const entry = { event: 'database.migrated', at: Date.now(), by: byCommand(), details } as const
        await storage.write(async (tx) => tx.audit.record(entry))
      }
      await storage.close()
      const lines = storage.migrated.map((name) => `Applied ${name}.`)
      for (const sentence of storage.lacking) writeError(`${sentence}\n`)
      print(
        options,
        { migrated: storage.migrated, lacking: storage.lacking },
        lines.length > 0 ? lines : ['The database is up to date.'],
      )
    },
  )
}
