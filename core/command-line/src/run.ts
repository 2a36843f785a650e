/** Helps all commands with `--json` and printing. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { Command } from 'commander'
import { writeJson, writeLines } from './terminal.ts'

export interface OutputOptions {
  readonly json?: boolean
}

/** Adds a subcommand with the option `--json`. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print one JSON value, for errors too')
    .exitOverride()
    .showHelpAfterError('(add --help to list the options)')
}

export function print(options: OutputOptions, value: unknown, lines: readonly string[]): void {
  if (options.json) writeJson(value)
  else writeLines(lines)
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Writes columns of text, each as wide as its widest cell; what is not seen is written out. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows.map((row) => row.map(visibleName))]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
