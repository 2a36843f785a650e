/** The error of plugins that cannot be used. */

export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code = 'unusable_plugins'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configured plugins cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/** @throws PluginError when there is a problem */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new PluginError(problems)
}
