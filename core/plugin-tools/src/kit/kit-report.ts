/** The report of the kit in lines: whether the plugin passes, what it did wrong, and what each kind of check found. */

import { table } from '@claimcheck/command-line/run'
import type { Report, ReportedCheck } from '@claimcheck/core/testkit'

export function kitLines({ ok, checks, untested }: Report): string[] {
  const failed = checks.filter((check) => !check.ok)
  return [
    ok
      ? `The plugin passes: ${checks.length} checks.`
      : `The plugin does NOT pass: ${failed.length} of ${checks.length} checks failed.`,
    ...failed.flatMap(problemLines),
    '',
    ...table(['CHECK', 'PASSED', 'FAILED'], rowsOf(checks)),
    ...(untested.length === 0 ? [] : ['', 'Not tested:', ...untested.map((text) => `  ${text}`)]),
  ]
}

function problemLines({ name, problem = 'it failed', route, case: situation }: ReportedCheck): string[] {
  const where = [situation === undefined ? '' : `case: ${situation}`, route ?? ''].filter(Boolean).join(', at ')
  return ['', ...`${name}: ${problem.replaceAll('\n', '\n  ')}`.split('\n'), ...(where === '' ? [] : [`  ${where}`])]
}

/** Makes a row for each name, in the order of the first check. */
function rowsOf(checks: readonly ReportedCheck[]): string[][] {
  const names = [...new Set(checks.map(({ name }) => name))]
  return names.map((name) => {
    const own = checks.filter((check) => check.name === name)
    const passed = own.filter(({ ok }) => ok).length
    return [name, String(passed), passed === own.length ? '-' : String(own.length - passed)]
  })
}
