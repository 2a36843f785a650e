/** Collects what the kit finds, by the stable names of its checks. */
import type { Report, ReportedCheck } from './options.ts'

interface FindingPlace {
  readonly route?: string | undefined
  readonly case?: string | undefined
}

export type Findings = ReturnType<typeof createFindings>

export function createFindings() {
  const found = new Map<string, ReportedCheck>()
  const untested = new Set<string>()

  return {
    /** Notes the result of a check of the kit. @param problem what the plugin does wrong; undefined if it is right */
    tell(name: string, problem: string | undefined, { route, case: of }: FindingPlace = {}): void {
      const key = JSON.stringify([name, route, of, problem])
      const place = { ...(route === undefined ? {} : { route }), ...(of === undefined ? {} : { case: of }) }
      found.set(key, { name, ok: problem === undefined, ...(problem === undefined ? {} : { problem }), ...place })
    },
    untested: (what: string) => void untested.add(what),
    report(): Report {
      const checks = [...found.values()]
      return { ok: checks.every(({ ok }) => ok), checks, untested: [...untested] }
    },
  }
}
