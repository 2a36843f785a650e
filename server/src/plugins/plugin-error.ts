/** The error of plugins that cannot be used. */
import { terminalText } from '@claimcheck/core/words/terminal'

export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code = 'unusable_plugins'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    // Problems hold names and texts of strangers.
    const shown = problems.map((problem) => terminalText(problem))
    super(['The configured plugins cannot be used:', ...shown.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = shown
  }
}

/**
 * Refuses plugins with problems.
 * @throws PluginError when there is a problem
 */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new PluginError(problems)
}
