/** Asks a person at a terminal before something that cannot be undone. */

import { createInterface } from 'node:readline/promises'
import { CommandError } from '@claimcheck/command-line/errors'
import type { OutputOptions } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import { terminalText } from '@claimcheck/core/words/terminal'

export interface ConfirmOptions extends OutputOptions {
  /** True to ask nobody. */
  readonly yes?: boolean
}

/** The option by which nobody is asked. */
export const YES = ['--yes', 'do not ask for confirmation'] as const

/**
 * Asks for a confirmation.
 * @throws CommandError `not_confirmed`, also where no terminal can answer
 */
export async function confirm({ yes }: ConfirmOptions, meaning: string, question: string): Promise<void> {
  if (yes) return
  writeError(`${meaning}\n`)
  if (!process.stdin.isTTY) throw new CommandError('not_confirmed', 'Nothing was done. Add --yes to confirm.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(terminalText(`${question} (yes/no) `))
    if (answer.trim().toLowerCase() !== 'yes') throw new CommandError('not_confirmed', 'Nothing was done.')
  } finally {
    terminal.close()
  }
}
