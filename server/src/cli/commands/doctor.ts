/** `claimcheck doctor` */
import type { Command } from 'commander'
import { startProgress } from '../progress.ts'
import { type OutputOptions, print, subcommand, withClaimcheck } from '../run.ts'

interface DoctorOptions extends OutputOptions {
  readonly signatures?: boolean
}

export function addDoctorCommand(program: Command): void {
  subcommand(program, 'doctor', 'derive everything again from what is stored, and say what does not fit')
    .option('--signatures', "verify each receipt's own signature, too (some thousands a second)")
    .action(async (options: DoctorOptions) => {
      const { diagnose } = await import('../../services/doctor.ts')
      const { ok, problems, leaves } = await withClaimcheck(async ({ storage }) => {
        const progress = startProgress('receipts')
        try {
          return await diagnose(storage, { signatures: options.signatures === true, onProgress: progress.update })
        } finally {
          progress.stop()
        }
      })
      print(options, { ok, problems }, ok ? [`All is well: ${leaves} receipts, each in the log once.`] : problems)
      if (!ok) process.exitCode = 1
    })
}
