/** Maintenance: operators check everything that is stored, copy an installation, and replace the key that seals secrets. */

import type { Feature } from '../../host/feature.ts'
import { maintenanceAuditWords } from './audit-words.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addSecretKeyCommands } from './commands/secret-key.ts'

export const maintenanceFeature = {
  name: 'maintenance',
  auditWords: maintenanceAuditWords,
  commands(program, withServices, own) {
    addMigrateCommand(program, own)
    addSecretKeyCommands(program, withServices)
    addDoctorCommand(program, withServices)
    addCopyCommand(program, own)
  },
} satisfies Feature
