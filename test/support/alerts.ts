/** The alert rules that ship, and the table of faults on the page about monitoring that names them. */
import { readFileSync } from 'node:fs'

export const RULES_FILE = 'server/deploy/prometheus/alerts.yml'
const PAGE = 'server/docs/monitoring.md'

export interface Rule {
  readonly name: string
  readonly expression: string
  readonly summary: string
  readonly runbook: string
}

export interface Fault {
  readonly fault: string
  /** Its name, or `none` and why none is needed. */
  readonly alert: string
  /** Whether a test plays it and sees the alert: a star says that none does. */
  readonly isPlayed: boolean
}

/** Reads the part of YAML that the file is written in; promtool reads all of it. */
export function readRules(): Rule[] {
  const [, ...rules] = readFileSync(RULES_FILE, 'utf8').split(/^ {6}- alert: /m)
  return rules.map((text) => {
    const found = (pattern: RegExp) => pattern.exec(text)?.[1]?.trim() ?? ''
    return {
      name: found(/^(\w+)$/m),
      expression: found(/^ {8}expr: (?:\|\n)?((?:.|\n {10})+)$/m),
      summary: found(/^ {10}summary: "(.+)"$/m),
      runbook: found(/^ {10}runbook: (.+)$/m),
    }
  })
}

export function readFaults(): Fault[] {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
    .filter((cells) => cells.length === 4 && cells[0] !== 'fault')
  return rows.map(([fault = '', , , alert = '']) => ({
    fault,
    alert: alert.replace(/\*$/, ''),
    isPlayed: /^Claimcheck\w+$/.test(alert),
  }))
}

/** The metrics that an expression of Prometheus names. */
export function metricsIn(expression: string): string[] {
  return expression.match(/\b(?:claimcheck|process|nodejs)_[a-z0-9_]+/g) ?? []
}
