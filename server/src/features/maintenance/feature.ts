/** Maintenance: operators check everything that is stored, copy an installation, and replace the key that seals secrets. */

import type { Feature } from '../../host/feature.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addSecretKeyCommands } from './commands/secret-key.ts'

export const maintenanceFeature = {
  name: 'maintenance',
  commands(program, withServices, loadConfig) {
    addMigrateCommand(program, loadConfig)
    addSecretKeyCommands(program, withServices)
    addDoctorCommand(program, withServices)
    addCopyCommand(program, loadConfig)
  },
} satisfies Feature
