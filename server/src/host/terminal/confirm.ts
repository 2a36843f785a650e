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
 * @param stopped aborts when the command has to end without an answer
 * @throws CommandError `not_confirmed`, also where no terminal can answer; `interrupted` after Ctrl-C, or when the input ends
 */
export async function confirm(
  { yes }: ConfirmOptions,
  meaning: string,
  question: string,
  stopped?: AbortSignal,
): Promise<void> {
  if (yes) return
  writeError(`${meaning}\n`)
  if (!process.stdin.isTTY) throw new CommandError('not_confirmed', 'Nothing was done. Add --yes to confirm.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Without these the question would never be answered, and the process would end in the midst of its work.
  const left = new AbortController()
  terminal.once('SIGINT', () => left.abort()).once('close', () => left.abort())
  const signal = AbortSignal.any([left.signal, ...(stopped ? [stopped] : [])])
  try {
    const answer = await terminal.question(terminalText(`${question} (yes/no) `), { signal }).catch((error: Error) => {
      if (!signal.aborted) throw error
      writeError('\n')
      throw new CommandError('interrupted', 'Nothing was done.')
    })
    if (answer.trim().toLowerCase() !== 'yes') throw new CommandError('not_confirmed', 'Nothing was done.')
  } finally {
    terminal.close()
  }
}
