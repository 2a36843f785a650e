/** `claimcheck doctor` */
import type { Command } from 'commander'
import { type OutputOptions, print, subcommand, withClaimcheck } from '../run.ts'

export function addDoctorCommand(program: Command): void {
  subcommand(program, 'doctor', 'derive everything again from what is stored, and say what does not fit').action(
    async (options: OutputOptions) => {
      const { diagnose } = await import('../../services/doctor.ts')
      const { ok, problems, leaves } = await withClaimcheck(({ storage }) => diagnose(storage, progress(options)))
      print(options, { ok, problems }, ok ? [`All is well: ${leaves} receipts, each in the log once.`] : problems)
      if (!ok) process.exitCode = 1
    },
  )
}

/** A line that rewrites itself, on a terminal only. */
function progress({ json }: OutputOptions) {
  if (json || !process.stderr.isTTY) return undefined
  return (leaves: number, treeSize: number) => {
    const end = leaves === treeSize ? '\n' : ''
    process.stderr.write(`\r${leaves} of ${treeSize} leaves (${Math.floor((100 * leaves) / (treeSize || 1))} %)${end}`)
  }
}
