/** Collects what the kit finds, by the stable names of its checks. */
import type { Report, ReportedCheck } from './options.ts'

export interface Place {
  readonly route?: string | undefined
  readonly case?: string | undefined
}

export interface Findings {
  /** @param problem undefined: the plugin is right */
  tell(name: string, problem: string | undefined, place?: Place): void
  untested(what: string): void
  report(): Report
}

export function createFindings(): Findings {
  const found = new Map<string, ReportedCheck>()
  const untested = new Set<string>()

  return {
    tell(name, problem, { route, case: of } = {}) {
      const key = JSON.stringify([name, route, of, problem])
      const place = { ...(route === undefined ? {} : { route }), ...(of === undefined ? {} : { case: of }) }
      found.set(key, { name, ok: problem === undefined, ...(problem === undefined ? {} : { problem }), ...place })
    },
    untested: (what) => void untested.add(what),
    report() {
      const checks = [...found.values()]
      return { ok: checks.every(({ ok }) => ok), checks, untested: [...untested] }
    },
  }
}
