/** Maintenance: operators check everything that is stored, back up, restore or copy an installation, and replace the key that seals secrets. */
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { addBackupCommands } from './commands/backup.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addSecretKeyCommands } from './commands/secret-key.ts'
import { lastBackup, maintenanceStored } from './last-backup.ts'

export const maintenanceFeature = {
  name: 'maintenance',
  stored: maintenanceStored,
  auditWords: {
    'database.backed_up': 'made a backup of the installation',
    'database.copied': 'copied the installation to this database',
    'database.migrated': "brought the database to this version's schema",
    'database.restored': 'restored a backup of the installation to this database',
    'secret_key.forgotten': 'removed a secret key under which nothing was sealed any more',
    'secret_key.rotated': 'sealed everything that is stored under another secret key',
  },
  metrics:
    ({ storage }) =>
    ({ gauge }) => {
      const help = 'When the newest backup was made, in seconds since 1970; 0 before the first'
      const made = gauge('backup_last_success_timestamp_seconds', help)
      return async () => made.set(((await lastBackup(storage.read)) ?? 0) / 1000)
    },
  commands(program, withServices, own) {
    addMigrateCommand(program, own)
    addSecretKeyCommands(program, withServices)
    addDoctorCommand(program, withServices)
    addCopyCommand(program, withServices, own)
    addBackupCommands(program, withServices, own)
  },
} satisfies Feature<Pick<HostServices, 'storage'>>
