/** What all commands share: `--json`, opening and closing the installation, and printing. */
import type { Command } from 'commander'
import { loadConfig } from '../config/config.ts'
import type { Claimcheck } from '../container.ts'

export interface OutputOptions {
  readonly json?: boolean
}

/** A subcommand with the option `--json`. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print one JSON value, also for an error')
    .exitOverride()
    .showHelpAfterError('(add --help to list the options)')
}

export function print(options: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(`${options.json ? JSON.stringify(value) : lines.join('\n')}\n`)
}

/** Runs `work` on the installation of this environment. A server may run on it at the same time. */
export async function withClaimcheck<T>(
  work: (claimcheck: Claimcheck) => Promise<T>,
  { plugins = false }: { readonly plugins?: boolean } = {},
): Promise<T> {
  // Imported here, so that help and `verify` start fast.
  const { openClaimcheck } = await import('../container.ts')
  const claimcheck = await openClaimcheck(loadConfig(process.env, process.cwd()), { plugins, patient: true })
  try {
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}

/** Columns of text, each as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
