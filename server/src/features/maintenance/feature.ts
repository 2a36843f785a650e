/** Maintenance: operators check everything that is stored, copy an installation, and replace the key that seals secrets. */
import { addCopyCommand } from '../../cli/commands/copy.ts'
import { addDoctorCommand } from '../../cli/commands/doctor.ts'
import { addMigrateCommand } from '../../cli/commands/migrate.ts'
import { addSecretKeyCommands } from '../../cli/commands/secret-key.ts'
import type { Feature } from '../../host/feature.ts'

export const maintenanceFeature = {
  name: 'maintenance',
  commands(program, withServices) {
    addMigrateCommand(program)
    addSecretKeyCommands(program, withServices)
    addDoctorCommand(program, withServices)
    addCopyCommand(program)
  },
} satisfies Feature
