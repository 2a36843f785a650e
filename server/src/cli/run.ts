/** What a command does around its work: opens the installation, closes it again, prints one JSON value or lines for people. */
import type { Command } from 'commander'
import { loadConfig } from '../config/config.ts'
import type { Claimcheck } from '../container.ts'

export interface OutputOptions {
  readonly json?: boolean
}

/** Adds a subcommand that takes `--json`, as every command does. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print one JSON value')
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
}

export function print(options: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(`${options.json ? JSON.stringify(value) : lines.join('\n')}\n`)
}

/** Runs `work` on the installation that the environment names, beside a running server or without one. */
export async function withClaimcheck<T>(
  work: (claimcheck: Claimcheck) => Promise<T>,
  { plugins = false }: { readonly plugins?: boolean } = {},
): Promise<T> {
  // Loaded when it is needed: help and `verify` are there at once.
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
