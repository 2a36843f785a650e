/** The parts that the stages of a run share: its destination and lanes, the search for secrets in what checks give out, and work in lanes. */
import type { KitClock } from './clock.ts'
import type { AnswerMemory } from './fault-proxy.ts'
import type { Findings } from './findings.ts'
import type { CheckRequest, Lane, Outcome } from './host.ts'
import type { ConformanceOptions } from './options.ts'
import { findSecret, wholeText } from './secrets.ts'

export interface Run {
  readonly options: ConformanceOptions
  readonly lanes: readonly Lane[]
  readonly clock: KitClock
  readonly memory: AnswerMemory
  readonly findings: Findings
  readonly startedAt: number
  /** Brings the destination into a situation, and forgets what it answered before. */
  set(situation: unknown): Promise<unknown>
  /** Makes a check, and looks for secrets in everything that it gives out. */
  check(lane: Lane, asked: CheckRequest): Promise<Outcome>
  /** Tells whether one of these checks of the kit is to be made. */
  wants(...names: readonly string[]): boolean
}

/** Tells of each secret in what the plugin returned, threw or logged. */
export function searchSecrets(
  { error, logs, secrets }: Pick<Outcome, 'error' | 'logs' | 'secrets'>,
  value: unknown,
  tell: Findings['tell'],
): void {
  const given: readonly [name: string, where: string, text: string][] = [
    ['secrets.in-facts', 'what it returns', jsonText(value)],
    ['secrets.in-errors', 'what it throws', error === undefined ? '' : wholeText(error)],
    ['secrets.in-logs', 'its log', logs.length === 0 ? '' : wholeText(logs)],
  ]
  for (const [name, where, text] of given) {
    for (const secret of secrets) {
      const form = findSecret(text, secret)
      if (form !== undefined)
        tell(name, `has a secret of the connection ${form} in ${where}, after the destination repeated it`)
    }
  }
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return wholeText(value)
  }
}

/** The same request to the plugin, made for another check of the kit. */
export function at<A extends CheckRequest>(asked: A, check: string, route?: string): A {
  return { ...asked, doing: { ...asked.doing, check, route } }
}

/** Does each task in one of the lanes, several at a time. */
export async function inLanes<T>(
  lanes: readonly Lane[],
  tasks: readonly T[],
  work: (lane: Lane, task: T) => Promise<void>,
): Promise<void> {
  const left = tasks.values()
  await Promise.all(
    lanes.map(async (lane) => {
      for (const task of left) await work(lane, task)
    }),
  )
}
